"""`gym`, also `blade gym`: the benchmark layer; a file a group of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli.help import SETTINGS
from blade.model.errors import RequestError
from blade_gym.cli.commands import CommandGroup, OptionsOnce, group
from blade_gym.cli.env import group as environment
from blade_gym.cli.listing import listing, search
from blade_gym.cli.prepare import prepare
from blade_gym.cli.reverify import reverify
from blade_gym.cli.run import run
from blade_gym.cli.statistics import aggregate, profile

ABOUT = "The benchmark layer: NeMo Gym's commands, files and numbers."
app = typer.Typer(name="gym", help=ABOUT, cls=CommandGroup, **SETTINGS)
evaluation = group("Prepare and run a benchmark, and what comes after the rollouts.")
app.add_typer(listing, name="list")
app.command(cls=OptionsOnce)(search)
app.add_typer(environment, name="env")
app.add_typer(evaluation, name="eval")
evaluation.command(cls=OptionsOnce)(prepare)
evaluation.command(cls=OptionsOnce)(run)
evaluation.command(cls=OptionsOnce)(profile)
evaluation.command(cls=OptionsOnce)(aggregate)
evaluation.command(cls=OptionsOnce)(reverify)


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
