"""`blade schema`: what each field of a run was taken for, and why."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.help import ADVANCED
from blade.cli.options import RunPaths, ShortJson, Workers


def schema(
    runs: RunPaths,
    as_json: ShortJson = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Change one value of the source at a time, and list the values that nothing of BLADE reads."
        ),
    ] = False,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Read files as this format, whatever they look like; `--format list` names them all.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    field_map: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="WHAT=FIELD",
            help="What a field of your rows is, for example task=case_id or reward=grading.points. Repeatable.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    workers: Workers = None,
) -> None:
    """Each field: its role, why, an example, in how many rows; what is not used; what could not be decided.

    Example: blade schema results/rollouts.jsonl
    """
    from blade import analysis
    from blade.files import json_line
    from blade.ingest.mapping import read_map
    from blade.model.options import Options
    from blade.report.schema import schema_json, schema_text

    options = Options(
        format=format_name,
        field_map=read_map(field_map or ()),
        metrics_only=True,
        workers=workers,
        find_rule_book=False,
    )
    loaded = analysis.load(runs, options)
    if check:
        from blade.ingest.roles.check import check_text, checked_reading

        found = [checked_reading(run) for run in loaded]
        if as_json:
            sys.stdout.write(json_line(found).decode())
        else:
            for run, one in zip(loaded, found, strict=True):
                show(check_text(run.name, one))
        return
    if as_json:
        sys.stdout.write(json_line(schema_json(loaded)).decode())
        return
    for run in loaded:
        show(schema_text(run))
