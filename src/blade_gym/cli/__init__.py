"""`gym`, also `blade gym`: the benchmark layer; a file a group of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.model.errors import RequestError
from blade_gym.cli.env import group as environment
from blade_gym.cli.env_serve import prove, start, status
from blade_gym.cli.groups import Known
from blade_gym.cli.listing import listing, search
from blade_gym.cli.once import Once
from blade_gym.cli.prepare import prepare
from blade_gym.cli.reverify import reverify
from blade_gym.cli.run import run
from blade_gym.cli.statistics import aggregate, profile

app = typer.Typer(
    name="gym",
    cls=Known,
    help="The benchmark layer: NeMo Gym's commands, files and numbers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
evaluation = typer.Typer(
    cls=Known,
    help="Prepare and run a benchmark, and what comes after the rollouts.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(listing, name="list")
app.command(cls=Once)(search)
app.add_typer(environment, name="env")
app.add_typer(evaluation, name="eval")
environment.command(cls=Once)(start)
environment.command(cls=Once)(status)
environment.command("test", cls=Once)(prove)
evaluation.command(cls=Once)(prepare)
evaluation.command(cls=Once)(run)
evaluation.command(cls=Once)(profile)
evaluation.command(cls=Once)(aggregate)
evaluation.command(cls=Once)(reverify)


@app.callback(invoke_without_command=True)
def common(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --version: one line, with packages and machine.")
    ] = False,
) -> None:
    """The benchmark layer: NeMo Gym's commands, files and numbers."""
    if version:
        import json

        from blade_gym.cli.version import about

        found = about()
        print(json.dumps(found) if as_json else f"gym of blade {found['blade']}")
        raise typer.Exit
    if as_json:
        raise RequestError("--json goes with --version, or behind a command", hint="gym list benchmarks --json")


def main() -> None:
    """Run `gym`."""
    from blade.cli.main import run as run_command

    run_command(app, "gym")
