"""The `blade` command. Commands import what they need when they run, so that `--help` is instant."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

import typer

from blade.cli.analyze import analyze
from blade.cli.audit import audit
from blade.cli.compare import compare
from blade.cli.detectors import detectors
from blade.cli.explain import explain
from blade.cli.gate import gate
from blade.cli.gym import app as gym
from blade.cli.health import health
from blade.cli.history import history
from blade.cli.label import label
from blade.cli.package import app as package
from blade.cli.show import show
from blade.cli.simulate import simulate
from blade.cli.skill import app as skill
from blade.cli.sql import sql
from blade.cli.try_rule import try_rule
from blade.core.errors import BladeError
from blade.ingest.workers import rare_sweeps

app = typer.Typer(
    name="blade",
    help="From rollouts, offline: which tasks failed, how each failure failed, how sure the score is, what to fix first.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(analyze)
app.command()(compare)
app.command()(gate)
app.command()(history)
app.command()(health)
app.command()(audit)
app.command()(show)
app.command()(explain)
app.command("try")(try_rule)
app.command()(sql)
app.command()(detectors)
app.command()(label)
app.command()(simulate)
app.add_typer(package, name="package")
app.add_typer(skill, name="skill")
app.add_typer(gym, name="gym")


def _version(wanted: bool) -> None:
    if wanted:
        from blade import __version__

        typer.echo(f"blade {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """From rollouts, offline: which tasks failed, how each failure failed, how sure the score is, what to fix first."""


def main() -> None:
    """Run `blade`."""
    try:
        with rare_sweeps():
            run(app)
    finally:
        # The process ends: what a last search for cycles would free is freed anyway.
        gc.freeze()


def run(command: typer.Typer) -> None:
    """Run a command; a request that cannot be served ends with two lines and exit code 2."""
    if hasattr(signal, "SIGPIPE"):
        # A reader that has seen enough ends us, as it ends any other command.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Tables that are no longer needed go back to the system soon. It must stand before polars is imported.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:50,muzzy_decay_ms:0")
    try:
        try:
            command()
        finally:
            sys.stdout.flush()
    except BladeError as error:
        _refuse(error.message, error.hint)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:
        _refuse(f"the output cannot be written: {error.strerror or error}", "is the disk full?")


def _refuse(message: str, hint: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    # What is left in the buffer could not be written and must not be tried again at exit.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(2)
