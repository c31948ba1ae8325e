"""Arguments and options that several commands have, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs

from blade.cli.help import ADVANCED
from blade.model.errors import RequestError
from blade.model.limits import DEFAULT_LIMITS, ReadLimits, size_of


def _named(folder: str | None) -> str | None:
    if folder == "":
        raise RequestError("the output folder has no name", hint="-o DIR; is a variable unset?")
    return folder


RunPath = Annotated[
    str, typer.Argument(metavar="RUN", help="Rollouts file, folder, glob, Inspect log, or an earlier analysis.")
]
RunPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Rollouts file, folder, glob, Inspect log, or an earlier analysis; NAME=PATH names it.",
    ),
]
Baseline = Annotated[str, typer.Argument(metavar="BASE", help="Rollouts file, folder, or an earlier analysis.")]
RunName = Annotated[str | None, typer.Option("--run", metavar="NAME", help="Which run, where the path holds several.")]
Out = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="DIR",
        callback=_named,
        help="Write the report, as Markdown and HTML, and its data to this folder.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ShortJson = Annotated[bool, typer.Option("--json", help="Print JSON of at most 6 kB, long lists shortened.")]
Full = Annotated[bool, typer.Option("--full", help="With --json: everything, however long.")]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="Leave out and score again: infra, suspect, task:ID, rollout:ID#REPEAT, code:CODE. Repeatable.",
    ),
]
PassThreshold = Annotated[
    float | None, typer.Option(metavar="X", help="The reward that counts as a pass (default 1.0).")
]
Margin = Annotated[
    float,
    typer.Option(metavar="POINTS", min=0, help="Differences below this count as none.", rich_help_panel=ADVANCED),
]
Labels = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Verdicts of people (`blade label`): they overrule the rules.")
]
ReadersFile = Annotated[
    Path | None,
    typer.Option(
        "--attributions",
        metavar="FILE",
        help="What readers said (`blade attribute`). Default: attributions.jsonl beside the runs or in -o.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Processes that read (default: the cores, for large files).",
        rich_help_panel=ADVANCED,
    ),
]
MaxLine = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The longest line that is read (default 64MB); a JSON document may be four times as large.",
        rich_help_panel=ADVANCED,
    ),
]
MaxUnpacked = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="How much of a compressed file is read, in unpacked bytes (default 32GB).",
        rich_help_panel=ADVANCED,
    ),
]
AuditedRuns = Annotated[
    list[str] | None,
    typer.Option("--runs", metavar="RUN", help="Rollouts, several may follow; what an audit finds false counts too."),
]
MoreRuns = Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", hidden=True)]
"""The words that follow the first one of `--runs`."""
PackageFolder = Annotated[
    Path | None, typer.Argument(metavar="[DIR]", help="The package; the same as --benchmark-dir.", show_default=False)
]
BenchmarkDir = Annotated[Path | None, typer.Option("--benchmark-dir", metavar="DIR", help="The folder of the package.")]


def given_limits(max_line: str | None, max_unpacked: str | None) -> ReadLimits:
    """The limits that were asked for, and the usual ones beside them; raises when a size is none."""
    asked = {"line": max_line, "unpacked": max_unpacked}
    return structs.replace(DEFAULT_LIMITS, **{name: size_of(text) for name, text in asked.items() if text is not None})


def given_folder(folder: Path | None, benchmark_dir: Path | None) -> Path:
    """The package that was named, one way or the other; raises when none was, or two."""
    if folder is not None and benchmark_dir is not None and folder != benchmark_dir:
        raise RequestError(f"two packages are named: {folder} and {benchmark_dir}", hint="give one of them")
    wanted = benchmark_dir or folder
    if wanted is None:
        raise RequestError("no package is named", hint="give its folder: --benchmark-dir benchmarks/NAME")
    return wanted
