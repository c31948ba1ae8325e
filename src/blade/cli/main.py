"""The `blade` command. Commands import what they need when they run, so that `--help` is instant."""

from __future__ import annotations

import os
import sys

import typer

from blade.cli.analyze import analyze
from blade.cli.show import show
from blade.cli.sql import sql
from blade.core.errors import BladeError

app = typer.Typer(
    name="blade",
    help="Which tasks failed, why, why did the score change, and what to fix first: answered from rollouts, offline.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(analyze)
app.command()(show)
app.command()(sql)


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
    """Which tasks failed, why, why did the score change, and what to fix first: answered from rollouts, offline."""


def main() -> None:
    """Run the command; a request that cannot be served ends with two lines and exit code 2."""
    try:
        app()
    except BladeError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        # The reader of our output has gone; what is left in the buffer has no one to go to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
