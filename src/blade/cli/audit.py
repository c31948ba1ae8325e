"""`blade audit`: does a report say what the data says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import Labels, MoreRuns, ReadersFile
from blade.files import finish
from blade.model.errors import RequestError

REPORT = "report.md"


def audit(
    report: Annotated[
        str, typer.Argument(metavar="REPORT", help="A report in Markdown, or the folder of an analysis.")
    ],
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--runs",
            metavar="RUN",
            help="The runs that it is about; several may follow. Default: those beside it, or those of its package.",
        ),
    ] = None,
    more: MoreRuns = None,
    labels: Labels = None,
    attributions: ReadersFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every claim as JSON, false ones first.")] = False,
) -> None:
    """Check every number, id and quotation of a report against the data and against each other; exit 1 if one is false.

    Example: blade audit out/report.md --runs results/rollouts.jsonl
    """
    from blade.claims.audit import audit as audit_claims
    from blade.claims.text import audit_text, document
    from blade.files import json_line
    from blade.ingest.labels import read_labels
    from blade.model.options import Options
    from blade.package.golden_audit import audit_in_place

    path = _report(Path(report))
    given = [*(runs or ()), *(more or ())] or _beside(path)
    options = Options(labels=read_labels(labels) if labels is not None else (), attributions=attributions)
    found = audit_in_place(path.resolve()) if not given else None
    if found is None:
        found = audit_claims(path.name, _text(path), given, options, str(path.parent))
    if as_json:
        print(json_line(document(found)).decode(), end="")
    else:
        show(audit_text(found))
    raise typer.Exit(1 if found.false else 0)


def _report(path: Path) -> Path:
    """The report itself, where a folder was named."""
    finish(path if path.is_dir() else path.parent)
    found = path / REPORT if path.is_dir() else path
    if not found.is_file():
        raise RequestError(
            f"no report at {found}", hint="give a Markdown file, or the folder that blade analyze -o wrote"
        )
    return found


def _beside(path: Path) -> list[str]:
    """The analysis that a report stands in, if it stands in one."""
    return [str(path.parent)] if any(path.parent.glob("*/rollouts.parquet")) else []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror}", hint="give a file that can be read") from None
