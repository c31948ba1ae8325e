"""The `blade` command. Commands import what they need when they run, so that `--help` is instant."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import typer

from blade.ingest.workers import rare_sweeps
from blade.model.errors import BladeError

COMMANDS: Mapping[str, str] = {
    "analyze": "blade.cli.analyze:analyze",
    "compare": "blade.cli.compare:compare",
    "gate": "blade.cli.gate:gate",
    "history": "blade.cli.history:history",
    "health": "blade.cli.health:health",
    "audit": "blade.cli.audit:audit",
    "show": "blade.cli.show:show",
    "explain": "blade.cli.explain:explain",
    "try": "blade.cli.try_rule:try_rule",
    "sql": "blade.cli.sql:sql",
    "rules": "blade.cli.rules:rules",
    "label": "blade.cli.label:label",
    "package": "blade.cli.package:app",
    "skill": "blade.cli.skill:app",
    "gym": "blade_gym.cli:app",
}
"""Where each command stands, in the order of the help."""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """`blade` with these of its commands: working out the options of all takes longer than many a command."""
    app = typer.Typer(
        name="blade",
        help="From rollouts, offline: which tasks failed, how each failure failed, how sure the score is, what to fix first.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(common)
    for name in names:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from blade import __version__

        typer.echo(f"blade {__version__}")
        raise typer.Exit


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
            run(command_line(_asked(sys.argv)))
    finally:
        # The process ends: what a last search for cycles would free is freed anyway.
        gc.freeze()


def _asked(words: Sequence[str]) -> Iterable[str]:
    """The command that is typed, where its name comes first; else all, of which one may be meant."""
    return words[1:2] if words[1:2] and words[1] in COMMANDS else COMMANDS


def run(command: typer.Typer) -> None:
    """Run a command; a request that cannot be served ends with two lines and exit code 2."""
    if hasattr(signal, "SIGPIPE"):
        # A reader that has seen enough ends us, as it ends any other command.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Tables that are no longer needed go back to the system soon. It must stand before polars is imported.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:50,muzzy_decay_ms:0")
    # Nothing here multiplies matrices; threads that could, started when numpy is imported, take a while and memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
