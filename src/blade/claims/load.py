"""Behind `blade audit`: the data that a report speaks of, loaded and analyzed as the report says it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

from msgspec.structs import replace

from blade.analysis import analyze, load
from blade.benchmark_health.health import health as health_of
from blade.claims.audit import audit as audit_report
from blade.claims.report_options import Asked, asked
from blade.claims.values import Audit
from blade.comparison.compare import MARGIN
from blade.comparison.compare import compare as compare_runs
from blade.custom_rules.read_rule_book import rule_book_named
from blade.findings.exclusions import check_exclusions
from blade.ingest.artifacts import find
from blade.model.analysis import Analysis
from blade.model.diagnosis import Label
from blade.model.errors import RequestError
from blade.model.finding import Cause
from blade.model.options import Options
from blade.model.run import Run


def audit(report: str, text: str, inputs: Sequence[str], options: Options, beside: str | None = None) -> Audit:
    """The claims of a report against the runs of the inputs, and against each other; without inputs only the latter.

    What the report says it was asked for is asked again: what to leave out, the threshold, the package, the verdicts of
    people, which are looked for `beside` the report too. Where that cannot be had it is read as a foreign report.
    """
    if not inputs:
        return audit_analysis(report, text, Analysis(runs=()))
    wishes = asked(text)
    options = _as_asked(options, wishes, [*inputs, *([beside] if beside else [])])
    runs = load(inputs, options)
    if wishes.expects and runs[0].roots and wishes.expects != runs[0].tasks["repeats_expected"].sum():
        ways = [options, *(() if find(inputs).analyses else _expecting(options, runs[0], wishes.expects))]
        made = [_audited(report, text, load(inputs, way), way, wishes) for way in ways]
        return min(made, key=lambda one: len(one.false))
    return _audited(report, text, runs, options, wishes)


def _audited(report: str, text: str, runs: Sequence[Run], options: Options, wishes: Asked) -> Audit:
    """The audit of a report under the options that it was made with, as far as they are known."""
    whole = _before_exclusions(runs, options)
    if whole is None or not _can_be_made_again(whole, wishes, options):
        return audit_report(report, text, analyze(runs, options))
    exclude = _can_exclude(whole, wishes.exclude)
    return audit_analysis(report, text, analyze(whole, replace(options, exclude=exclude)))


def _expecting(options: Options, run: Run, expected: int) -> list[Options]:
    """The options under which so many rollouts may have been expected of a run: by its repeats, or by its tasks."""
    repeats_ = int(str(run.tasks["repeats_expected"].max() or 1))
    return [
        replace(options, expect_repeats=max(1, expected // max(1, run.tasks.height))),
        replace(options, expect_tasks=max(1, expected // repeats_)),
    ]


def _can_be_made_again(runs: Sequence[Run], wishes: Asked, options: Options) -> bool:
    """Whether everything that the report says it was asked for is at hand."""
    return (
        (options.rule_book is not None or not wishes.package)
        and (bool(options.labels) or not wishes.labelled)
        and (not wishes.grouped or any(run.tasks["group"].count() for run in runs))
    )


def _as_asked(options: Options, wishes: Asked, places: Sequence[str]) -> Options:
    """The options with what a report says where the user said nothing."""
    return replace(
        options,
        pass_threshold=options.pass_threshold if options.pass_threshold is not None else wishes.pass_threshold,
        metrics_only=options.metrics_only or wishes.metrics_only,
        rule_book=options.rule_book or rule_book_named(wishes.package, map(Path, places)),
        labels=options.labels or tuple(_labels_beside(places)),
    )


def _before_exclusions(runs: Sequence[Run], options: Options) -> tuple[Run, ...] | None:
    """The runs with what an earlier analysis left out of them; None when their artifacts are gone."""
    if not any(run.excluded for run in runs):
        return tuple(runs)
    files = [run.roots.get(each.path, "") for run in runs for each in run.artifacts if each.role == "rollouts"]
    if not files or not all(Path(file).is_file() for file in files):
        return None
    fresh = load(files, options)
    return fresh if {run.name for run in fresh} == {run.name for run in runs} else None


def _can_exclude(runs: Sequence[Run], wishes: Sequence[str]) -> tuple[str, ...]:
    """Wishes that the runs can follow; one with a slip of the pen is left to the claims."""
    try:
        check_exclusions(runs, wishes, [])
    except RequestError:
        return ()
    return tuple(wishes)


def _labels_beside(inputs: Sequence[str]) -> Iterator[Label]:
    """Verdicts of people that an earlier analysis counted."""
    for table in (table for path in inputs for table in sorted(Path(path).glob("*/tasks.jsonl"))):
        for row in map(json.loads, table.read_text(encoding="utf-8").splitlines()):
            if row.get("decided_by") == "person":
                cause = Cause(row["cause"]) if row["cause"] is not None else None
                yield Label(task_id=row["task_id"], cause=cause, note=row["because"])


def audit_analysis(report: str, text: str, analysis: Analysis) -> Audit:
    """The claims of a report against an analysis; a report that BLADE itself wrote of it is checked word for word."""
    return audit_report(report, text, analysis, tuple(_own_texts(text, analysis)))


def _own_texts(text: str, analysis: Analysis) -> Iterator[str]:
    """What BLADE writes about the runs, of the kind that the report is."""
    from blade.benchmark_health.report import health_report
    from blade.comparison.report import comparison_report
    from blade.report.sections import report

    if not analysis.runs:
        return
    if "## Where the change came from" in text:
        for first, second in permutations(analysis.runs, 2):
            yield comparison_report(compare_runs(first, second, MARGIN))
    elif "## What it takes to see an effect" in text:
        yield health_report(health_of(analysis.runs))
    else:
        yield report(analysis)
