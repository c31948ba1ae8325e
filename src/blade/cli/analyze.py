"""`blade analyze`: measure runs, print a summary, write the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.console import show, terminal_width
from blade.cli.help import ADVANCED
from blade.cli.options import (
    Exclude,
    Full,
    Labels,
    MaxLine,
    MaxUnpacked,
    Out,
    PassThreshold,
    ReadersFile,
    RunPaths,
    ShortJson,
    Workers,
    given_limits,
)
from blade.cli.pointers import next_command, pointers
from blade.cli.progress import bar
from blade.ingest.workers import started_early
from blade.model.errors import RequestError

if TYPE_CHECKING:
    from blade.model.analysis import Analysis


def analyze(
    runs: RunPaths,
    out: Out = None,
    as_json: ShortJson = False,
    full: Full = False,
    exclude: Exclude = None,
    pass_threshold: PassThreshold = None,
    labels: Labels = None,
    attributions: ReadersFile = None,
    notes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your words about the run: quoted in the inventory, never counted."),
    ] = None,
    package: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The benchmark's package, whose DIR/skill/blade.yaml is the rule book. Default: benchmarks/NAME, where it has one.",
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="With --json: how many findings; more than fit are left off.",
            rich_help_panel=ADVANCED,
        ),
    ] = 3,
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
    expect_tasks: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tasks that each run should have.", rich_help_panel=ADVANCED),
    ] = None,
    expect_repeats: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="Rollouts that each task should have.", rich_help_panel=ADVANCED),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Row field whose values are the units of intervals, where tasks come in groups.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    metrics_only: Annotated[
        bool,
        typer.Option(
            "--metrics-only",
            help="Skip trajectories: faster, no steps, calls or rules.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    max_line: MaxLine = None,
    max_unpacked: MaxUnpacked = None,
    workers: Workers = None,
) -> None:
    """Measure and diagnose runs: scores with intervals, how each failure failed, where repeats part, what to do first.

    Example: blade analyze results/rollouts.jsonl -o out
    """
    with started_early(runs, workers) as pool, bar("reading") as advance:
        from blade import analysis as pipeline
        from blade.custom_rules.find_rule_book import rule_book_in
        from blade.ingest.labels import read_labels
        from blade.ingest.mapping import read_map
        from blade.model.options import Options

        options = Options(
            format=format_name,
            field_map=read_map(field_map or ()),
            pass_threshold=pass_threshold,
            expect_tasks=expect_tasks,
            expect_repeats=expect_repeats,
            group=group,
            exclude=tuple(exclude or ()),
            notes=_notes(notes),
            labels=read_labels(labels) if labels is not None else (),
            attributions=attributions,
            attributions_in=(Path(out),) if out is not None else (),
            rule_book=rule_book_in(package) if package is not None else None,
            limits=given_limits(max_line, max_unpacked),
            metrics_only=metrics_only,
            workers=workers,
            pool=pool,
            progress=advance,
        )
        loaded = pipeline.load(runs, options)
    from blade.report import as_json as json_report
    from blade.report import terminal

    terminal.columns.set(terminal_width())
    analysis = pipeline.analyze(loaded, options)
    written = _write(analysis, Path(out) if out is not None else None)
    more = pointers(analysis, runs)
    if as_json:
        print(terminal.taken(analysis), file=sys.stderr)
        sys.stdout.write(json_report.full(analysis) if full else json_report.summary(analysis, more, limit=limit))
        print(written, file=sys.stderr)
    else:
        next_up = f"next: {next_command(analysis, more)}"
        show([terminal.taken(analysis), "", *terminal.summary(analysis), "", next_up, written])


def _notes(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RequestError(f"cannot read the notes in {path}: {error.strerror}", hint="give a text file") from None
    return tuple(line for line in text.split("\n") if line.strip())


def _write(analysis: Analysis, out: Path | None) -> str:
    if out is None:
        return "nothing was written; -o DIR writes the report, the numbers and the tables"
    from blade.write import write

    write(analysis, out)
    return f"written: {out / 'report.html'}, {out / 'report.md'} and a folder for each run"
