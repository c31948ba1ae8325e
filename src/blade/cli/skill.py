"""`blade skill`: the agent skills that come with BLADE, put into a project or printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli import help  # noqa: A004 - the module is about --help
from blade.model.errors import RequestError

if TYPE_CHECKING:
    from blade.cli.skill_files import PlacedFile

MOST_NAMED = 4

app = help.app("skill", "The agent skill: instructions that a coding agent follows to analyze a run with BLADE.")


class Target(StrEnum):
    """Which agents find the skill."""

    AGENTS = "agents"
    CLAUDE = "claude"
    CODEX = "codex"
    ALL = "all"


@app.command(cls=help.PlainCommand)
def install(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which skill; the analysis skill unless named.")
    ] = None,
    target: Annotated[
        Target,
        typer.Option(
            metavar="NAME",
            help="Whose folder: agents (.agents/skills), claude (.claude/skills), codex (.codex/skills), all.",
        ),
    ] = Target.ALL,
    into: Annotated[Path, typer.Option(metavar="DIR", help="The root of the project that gets it.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that were changed.")] = False,
) -> None:
    """Copy a skill into a project, where coding agents find it; changed files are left alone unless forced.

    Example: blade skill install --target claude --into ../my-project
    """
    from blade.cli.skill_files import MAIN, TARGETS, FileState, plan, put, skill

    targets = list(TARGETS) if target is Target.ALL else [str(target)]
    files = plan(skill(name or MAIN), into, targets)
    changed = [one for one in files if one.state is FileState.CHANGED]
    if changed and not force:
        raise RequestError(
            f"{len(changed)} of {len(files)} files are there and differ: {_names(changed)}; nothing was written",
            hint="--force overwrites them",
        )
    put(files)
    _tell(files)


@app.command(cls=help.PlainCommand)
def show(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A skill or one of its references; the analysis skill if none."),
    ] = None,
) -> None:
    """Print a skill or one of its references, as an agent reads it; stderr names the others.

    Example: blade skill show writing-a-report
    """
    from blade.cli.skill_files import page, page_names

    sys.stdout.write(page(name))
    print("blade skill show NAME prints one of: " + ", ".join(page_names()), file=sys.stderr)


def _tell(files: Sequence[PlacedFile]) -> None:
    from blade.cli.skill_files import FileState

    for one in files:
        if one.state is not FileState.SAME:
            print(f"wrote {one.path}" + (" (it was changed)" if one.state is FileState.CHANGED else ""))
    same = sum(one.state is FileState.SAME for one in files)
    if same:
        print(f"{same} of {len(files)} files were there already, the same")
    print("next: ask your coding agent to use the BLADE analysis skill on a run; blade skill show prints it")


def _names(files: Sequence[PlacedFile]) -> str:
    shown = ", ".join(str(one.path) for one in files[:MOST_NAMED])
    return shown + (f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else "")
