"""`blade analyze`: measure runs, print a summary, write the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.pointers import next_command, pointers
from blade.cli.progress import bar
from blade.ingest.workers import started_early
from blade.model.errors import RequestError
from blade.report.text import printable

if TYPE_CHECKING:
    from blade.model.analysis import Analysis
    from blade.model.run import Run


def analyze(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Rollouts file, folder, glob, Inspect log, or an earlier analysis; NAME=PATH names it.",
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="DIR", help="Write report.md, report.html and the tables there."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON of at most 6 kB.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --json: every number and task, however long.")] = False,
    limit: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="With --json: how many findings (default 3); more than fit are left off."
        ),
    ] = 3,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Read files as this format: inspect, verifiers, gym, lm-eval, harbor, verdict or plain.",
        ),
    ] = None,
    pass_threshold: Annotated[
        float | None, typer.Option(metavar="X", help="The reward that counts as a pass (default 1.0).")
    ] = None,
    expect_tasks: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Tasks that each run should have.")
    ] = None,
    expect_repeats: Annotated[
        int | None, typer.Option(metavar="K", min=1, help="Rollouts that each task should have.")
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Leave out and score again: infra, suspect, task:ID, rollout:ID#REPEAT, code:CODE. Repeatable.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Verdicts of people (`blade label`): they overrule the rules."),
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your words about the run: quoted in the inventory, never counted."),
    ] = None,
    package: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="What the benchmark's package teaches: DIR/skill/blade.yaml. Default: benchmarks/NAME, where it has one.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Row field whose values are the units of intervals, where tasks come in groups."
        ),
    ] = None,
    metrics_only: Annotated[
        bool, typer.Option("--metrics-only", help="Skip trajectories: faster, no steps, calls or rules.")
    ] = False,
    explain_schema: Annotated[
        bool, typer.Option("--explain-schema", help="Show which field was taken as what, and what nobody read.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes that read (default: the cores, for large files).")
    ] = None,
) -> None:
    """Measure and diagnose runs: scores with intervals, how each failure failed, where repeats part, what to do first.

    Example: blade analyze results/rollouts.jsonl -o out
    """
    if out == "":
        raise RequestError("the output folder has no name", hint="-o DIR; is a variable unset?")
    with started_early(runs, workers) as pool, bar("reading") as advance:
        from blade import analysis as pipeline
        from blade.custom_rules.read_rule_book import rule_book_in
        from blade.ingest.labels import read_labels
        from blade.model.options import Options

        options = Options(
            format=format_name,
            pass_threshold=pass_threshold,
            expect_tasks=expect_tasks,
            expect_repeats=expect_repeats,
            group=group,
            exclude=tuple(exclude or ()),
            notes=_notes(notes),
            labels=read_labels(labels) if labels is not None else (),
            rule_book=rule_book_in(package) if package is not None else None,
            metrics_only=metrics_only,
            workers=workers,
            pool=pool,
            progress=advance,
        )
        loaded = pipeline.load(runs, options)
    from blade.report import as_json as json_report
    from blade.report import terminal

    if explain_schema:
        _print_schema(loaded)
        return
    analysis = pipeline.analyze(loaded, options)
    written = _write(analysis, Path(out) if out is not None else None)
    more = pointers(analysis, runs)
    if as_json:
        print(terminal.taken(analysis), file=sys.stderr)
        sys.stdout.write(json_report.full(analysis) if full else json_report.summary(analysis, more, limit=limit))
        print(written, file=sys.stderr)
    else:
        print("\n".join(map(printable, terminal.taken(analysis).split("\n"))))
        print(
            "\n".join(
                map(printable, ["", *terminal.summary(analysis), "", f"next: {next_command(analysis, more)}", written])
            )
        )


def _notes(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RequestError(f"cannot read the notes in {path}: {error.strerror}", hint="give a text file") from None
    return tuple(line for line in text.splitlines() if line.strip())


def _write(analysis: Analysis, out: Path | None) -> str:
    if out is None:
        return "nothing was written; -o DIR writes the report, the numbers and the tables"
    from blade.write import write

    write(analysis, out)
    return f"written: {out / 'report.html'}, {out / 'report.md'} and a folder for each run"


def _print_schema(loaded: tuple[Run, ...]) -> None:
    for run in loaded:
        print(f"{run.name}: {len(run.schema)} fields")
        for field in run.schema:
            print(f"  {field.path:<36} {field.seen:>8,} of {field.rows:,} rows   {field.taken_as or 'not read'}")
        print(
            "fields with small values may become slices: "
            + (", ".join(c for c in run.tasks.columns if c.startswith("slice.")) or "none did")
        )
