"""What commands print as JSON, and how JSON is written; the names of fields are a contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import UNSET, UnsetType, structs

from blade.files import json_line, json_text
from blade.model.analysis import Analysis, RunAnalysis
from blade.model.diagnosis import Finding, RuleTrial, Support, TrialSlice
from blade.model.reading import ReaderStatistics
from blade.report.documents import (
    FindingsDocument,
    JsonDocument,
    Limits,
    MetricsDocument,
    ReadersDocument,
    TaskDocument,
    findings,
    metrics,
    task,
)
from blade.report.lost import LostInput, grouped
from blade.report.page_one import leading

MOST_BYTES = 6_000
MOST_FINDINGS = 3
LONGEST_WHAT = 300
LONGEST_DOUBT = 240
MOST_PROBLEMS = 3


class PointsDocument(JsonDocument, frozen=True, kw_only=True):
    """What fixing it could give, three ways."""

    estimate: float | None
    ci: Limits | None
    only_defect: float
    ceiling: float


class FindingSummary(JsonDocument, frozen=True, kw_only=True):
    """A finding with one quote."""

    id: str
    what: str
    support: Support
    rollouts: int
    tasks: int
    points: PointsDocument | None
    location: str
    quote: str | None
    fix: str | None


class HeadlineSummary(JsonDocument, frozen=True, kw_only=True):
    """The number that leads."""

    metric: str
    value: float | None


class LostSummary(JsonDocument, frozen=True, kw_only=True):
    """Places of the input that could not be used for one reason; metrics.json lists each of them."""

    reason: str
    places: int
    first: str


class RunSummary(JsonDocument, frozen=True, kw_only=True):
    """What `blade analyze --json` prints of one run; `more` holds commands that give the rest."""

    run: str
    headline: HeadlineSummary
    ci: Limits | None
    n: dict[str, int | None]
    buckets: dict[str, int]
    baselines: dict[str, float | None]
    findings: tuple[FindingSummary, ...]
    doubts: tuple[str, ...]
    problems: tuple[LostSummary, ...]
    reasons: dict[str, str]
    more: dict[str, str] | UnsetType = UNSET
    shortened: bool | UnsetType = UNSET


class RunSummaries(JsonDocument, frozen=True, kw_only=True):
    """What `blade analyze --json` prints of several runs."""

    runs: tuple[RunSummary, ...]
    left_off: int = 0
    more: dict[str, str]


def summary(
    analysis: Analysis, more: Mapping[str, str], most_bytes: int | None = MOST_BYTES, limit: int = MOST_FINDINGS
) -> str:
    """What `--json` prints: at most 6 kB unless told otherwise, with commands that give the rest."""
    runs = tuple(_run_summary(one, limit) for one in analysis.runs)
    answer: RunSummary | RunSummaries = RunSummaries(runs=runs, more=dict(more))
    if len(runs) == 1:
        answer = structs.replace(runs[0], more=dict(more))
    shorter: RunSummary | RunSummaries | None = answer
    while shorter is not None:
        answer = shorter
        fits = most_bytes is None or len(json_line(answer)) <= most_bytes + 1
        shorter = None if fits else _shorter(answer)
    return json_line(answer).decode()


def _run_summary(one: RunAnalysis, limit: int) -> RunSummary:
    lead, diagnosis = leading(one), one.diagnosis
    counts = {name: count for name, count in one.metrics.counts.items() if name != "total_tasks"}
    doubts = [doubt.message[:LONGEST_DOUBT] for doubt in (diagnosis.doubts if diagnosis else ())]
    return RunSummary(
        run=one.run.name,
        headline=HeadlineSummary(metric=one.metrics.headline, value=lead.value),
        ci=lead.ci,
        n={"tasks": lead.n, **counts, "problems": one.run.problem_count},
        buckets=dict(one.metrics.buckets),
        baselines={base.name: base.value for base in one.metrics.baselines},
        findings=tuple(map(_finding_summary, (diagnosis.findings if diagnosis else ())[:limit])),
        doubts=(*one.metrics.doubts, *doubts),
        problems=tuple(map(_lost_summary, grouped(one.run.problems)[:MOST_PROBLEMS])),
        reasons={"headline": lead.reason} if lead.reason is not None else {},
    )


def _lost_summary(lost: LostInput) -> LostSummary:
    return LostSummary(reason=lost.reason[:LONGEST_DOUBT], places=lost.count, first=str(lost.first))


def _finding_summary(finding: Finding) -> FindingSummary:
    first = finding.evidence[0] if finding.evidence else None
    return FindingSummary.of(
        finding,
        what=f"{finding.title}. {finding.what}"[:LONGEST_WHAT],
        points=finding.gain if finding.fix else None,
        location=first.location if first else finding.locations[0],
        quote=first.quote[:LONGEST_WHAT] if first else None,
        fix=finding.fix or None,
    )


def _shorter(answer: RunSummary | RunSummaries) -> RunSummary | RunSummaries | None:
    """The answer made shorter by one step; None when nothing more can go."""
    if isinstance(answer, RunSummaries):
        if len(answer.runs) > 1:
            return structs.replace(answer, runs=answer.runs[:-1], left_off=answer.left_off + 1)
    elif len(answer.doubts) > 1:
        return structs.replace(answer, doubts=answer.doubts[:-1], shortened=True)
    elif len(answer.findings) > 1:
        return structs.replace(answer, findings=answer.findings[:-1], shortened=True)
    return structs.replace(answer, more={}) if answer.more else None


class RunDocuments(JsonDocument, frozen=True, kw_only=True):
    """Everything about one run: what `blade analyze --json --full` prints a list of."""

    metrics: MetricsDocument
    findings: FindingsDocument
    tasks: tuple[TaskDocument, ...]


def full(analysis: Analysis) -> str:
    """What `--json --full` prints: every number and every task."""
    documents = [
        RunDocuments(metrics=metrics(one), findings=findings(one), tasks=tuple(map(task, one.tasks)))
        for one in analysis.runs
    ]
    return json_line(documents).decode()


def readers_json(found: ReaderStatistics) -> str:
    """What `blade attribute --agreement --json` prints."""
    return json_line(ReadersDocument.of(found)).decode()


class TrialLift(JsonDocument, frozen=True, kw_only=True, rename={"p_value": "p", "informative": "tasks"}):
    """How the rule goes with failing within tasks."""

    scope: str = "within tasks"
    risk_difference: float
    p_value: float | None
    informative: int


class SightingDocument(JsonDocument, frozen=True, kw_only=True):
    """One rollout in which the rule holds."""

    location: str
    outcome: str
    field: str | None
    quote: str | None


class RuleTrialDocument(JsonDocument, frozen=True, kw_only=True, rename={"sightings": "locations"}):
    """What `blade try --json` prints of one run; fractions, not percent."""

    run: str
    rule: str
    fired: int
    tasks: int
    checked: int
    skipped: int
    fired_failed: int
    fired_passed: int
    failed: int
    passed: int
    support: Support | None
    lift: TrialLift | None
    reason: str | None
    slices: tuple[TrialSlice, ...]
    sightings: tuple[SightingDocument, ...]
    notes: tuple[str, ...]


def trials_json(trials: Sequence[RuleTrial]) -> str:
    """A rule tried on some runs."""
    documents = [
        RuleTrialDocument.of(
            trial,
            lift=TrialLift.of(trial) if trial.risk_difference is not None else None,
            sightings=tuple(
                SightingDocument.of(
                    one,
                    field=one.evidence.field if one.evidence else None,
                    quote=one.evidence.quote if one.evidence else None,
                )
                for one in trial.sightings
            ),
        )
        for trial in trials
    ]
    return dump(documents).rstrip("\n")


def dump(value: object) -> str:
    """JSON as it is written to files."""
    return json_text(value).decode()


def dump_lines(values: Iterable[object]) -> str:
    """JSON lines as they are written to files."""
    return b"".join(map(json_line, values)).decode()
