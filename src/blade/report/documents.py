"""What an analysis writes as JSON: metrics.json, a row of tasks.jsonl, and findings.json.

Each document is a class whose fields are a contract; docs/schemas holds their JSON Schemas. What a document does not
compute it takes from the value of the model by the same name.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from blade.model.analysis import SCHEMA_VERSION, FunnelStage, RunAnalysis, TaskResult
from blade.model.diagnosis import Habit, RepeatOutcome, Support
from blade.model.finding import Cause
from blade.model.measure import Interval
from blade.model.reading import Disagreement
from blade.report.page_one import leading

Limits = tuple[float, float]
"""The ends of an interval."""
DocumentType = TypeVar("DocumentType", bound="JsonDocument")


class JsonDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A part of what is written."""

    @classmethod
    def of(cls: type[DocumentType], value: object, **computed: object) -> DocumentType:
        """The document of a value: fields that are not computed are its attributes, at every depth."""
        names = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
        fields = {
            written: computed[name] if name in computed else getattr(value, name)
            for name, written in names
            if name in computed or hasattr(value, name)
        }
        return msgspec.convert(fields, cls, from_attributes=True)


class HeadlineDocument(JsonDocument, frozen=True, kw_only=True):
    """The number that leads."""

    metric: str
    value: float | None
    ci: Limits | None
    method: str | None
    n: int
    why: str


class ValueOverTasks(JsonDocument, frozen=True, kw_only=True, rename={"n": "tasks"}):
    """A measure over `tasks` tasks."""

    value: float | None
    ci: Limits | None
    n: int


class ScoreDocument(JsonDocument, frozen=True, kw_only=True):
    """The headline under one reading of the rollouts."""

    value: float | None
    ci: Limits | None
    n_tasks: int
    n_rollouts: int


class SliceDocument(JsonDocument, frozen=True, kw_only=True):
    """The tasks that have one value of a slice field."""

    tasks: int
    rollouts: int
    passed: int
    pass_at_1: float | None
    ci: Limits | None


class VarianceDocument(JsonDocument, frozen=True, kw_only=True):
    """Spread of task scores, within a task across repeats and between tasks."""

    total: float | None
    within: float | None
    between: float | None
    reliability: float | None
    se_new_tasks: float | None
    se_same_tasks: float | None


class OutcomeMedian(JsonDocument, frozen=True, kw_only=True):
    """The median of a quantity over rollouts of one outcome that record it."""

    rollouts: int
    median: float | None


class UsageDocument(JsonDocument, frozen=True, kw_only=True):
    """A quantity over the rollouts that record it."""

    rollouts: int
    total: float
    mean: float
    median: float
    passed: OutcomeMedian
    failed: OutcomeMedian


class RecordedDocument(JsonDocument, frozen=True, kw_only=True):
    """A number that a sidecar states, beside the same number made from the rows."""

    name: str
    source: str
    recorded: float
    recomputed: float | None
    all_expected: float | None
    agrees: bool | None
    reading: Literal["judged", "all expected"] | None


class ProblemDocument(JsonDocument, frozen=True, kw_only=True):
    """Input that could not be used, or only in part."""

    file: str
    line: int | None
    member: str | None
    reason: str


class MetricsDocument(JsonDocument, frozen=True, kw_only=True):
    """metrics.json: every number of a run as a fraction; `reasons` says why a value is null."""

    schema_version: str
    run: str
    model_name: str | None
    model_ref: str | None
    benchmark: str | None
    agent: str | None
    headline: HeadlineDocument
    pass_threshold: float
    pass_at_1: float | None
    pass_at_1_ci: Limits | None
    pass_at_1_all_expected: float | None
    rollout_pass_rate: float | None
    k: int | None
    pass_at_k: float | None
    pass_at: dict[str, ValueOverTasks]
    pass_hat_k: dict[str, float | None]
    pass_hat_k_tasks: dict[str, int]
    consistency: float | None
    coverage: float | None
    retry_value: float | None
    mean_reward: float | None
    scores: dict[str, ScoreDocument]
    baselines: dict[str, float | None]
    baselines_tasks: dict[str, int]
    total_tasks: int
    total_rollouts: int
    expected_rollouts: int | None
    passed_rollouts: int
    failed_rollouts: int
    errored_rollouts: int
    unscored_rollouts: int
    missing_rollouts: int | None
    duplicate_rollouts: int
    expected_from: str | None
    buckets: dict[str, int]
    incomplete_tasks: int
    funnel: tuple[FunnelStage, ...]
    funnel_left_out: tuple[str, ...]
    funnel_passed_otherwise: int
    slices: dict[str, dict[str, SliceDocument]]
    variance: VarianceDocument
    tokens: dict[str, UsageDocument] | None
    seconds: dict[str, UsageDocument] | None
    cost: dict[str, UsageDocument] | None
    length: dict[str, UsageDocument] | None
    settings: dict[str, str]
    recorded: tuple[RecordedDocument, ...]
    package: str | None
    excluded: tuple[str, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    problem_count: int
    problems: tuple[ProblemDocument, ...]
    reasons: dict[str, str]


def metrics(one: RunAnalysis) -> MetricsDocument:
    """The content of metrics.json."""
    numbers, run, lead = one.metrics, one.run, leading(one)
    return MetricsDocument.of(
        run,
        schema_version=SCHEMA_VERSION,
        run=run.name,
        model_name=run.model,
        model_ref=run.model,
        headline=HeadlineDocument.of(
            lead, metric=numbers.headline, method=_method(lead.interval), why=numbers.headline_why
        ),
        pass_at_1_ci=numbers.measures["pass_at_1"].ci,
        **{name: measure.value for name, measure in numbers.measures.items()},
        k=numbers.k,
        pass_at={str(k): measure for k, measure in numbers.pass_at.items()},
        pass_hat_k={str(k): measure.value for k, measure in numbers.pass_hat.items()},
        pass_hat_k_tasks={str(k): measure.n for k, measure in numbers.pass_hat.items()},
        scores={score.name: score for score in numbers.scores},
        baselines={base.name: base.value for base in numbers.baselines},
        baselines_tasks={base.name: base.n for base in numbers.baselines},
        **numbers.counts,
        buckets=numbers.buckets,
        incomplete_tasks=numbers.incomplete_tasks,
        funnel=numbers.funnel.stages,
        funnel_left_out=numbers.funnel.left_out,
        funnel_passed_otherwise=numbers.funnel.passed_otherwise,
        slices={field: {value.value: value for value in values} for field, values in numbers.slices.items()},
        variance=numbers.variance,
        tokens=_usage(one, "input_tokens", "output_tokens"),
        seconds=_usage(one, "seconds"),
        cost=_usage(one, "cost"),
        length=_usage(one, "steps", "calls", "agent_chars"),
        recorded=one.recorded,
        package=run.rule_book_name,
        doubts=numbers.doubts,
        problems=tuple(
            ProblemDocument.of(problem.source, file=problem.source.artifact, reason=problem.reason)
            for problem in run.problems
        ),
        reasons=_reasons(one),
    )


def _method(interval: Interval | None) -> str | None:
    if interval is None:
        return None
    return f"{interval.level:.0%} {interval.method}, {interval.n} units" + (", rough" if interval.rough else "")


def _usage(one: RunAnalysis, *names: str) -> dict[str, UsageDocument] | None:
    recorded = {
        usage.name: UsageDocument.of(
            usage,
            rollouts=usage.n,
            passed=OutcomeMedian(rollouts=usage.passed_n, median=usage.passed_median),
            failed=OutcomeMedian(rollouts=usage.failed_n, median=usage.failed_median),
        )
        for usage in one.metrics.usage
        if usage.name in names
    }
    return recorded or None


def _reasons(one: RunAnalysis) -> dict[str, str]:
    """Why each null is null."""
    numbers, run = one.metrics, one.run
    reasons = {name: m.reason for name, m in numbers.measures.items() if m.reason}
    reasons |= {f"baselines.{b.name}": b.reason for b in numbers.baselines if b.reason}
    reasons |= {f"scores.{s.name}": s.reason for s in numbers.scores if s.reason}
    reasons |= {f"pass_hat_k.{k}": m.reason for k, m in numbers.pass_hat.items() if m.reason}
    reasons |= {} if run.rule_book_name else {"package": "none was given, and none is named like the benchmark"}
    have = {usage.name for usage in numbers.usage}
    for name, fields in (("tokens", "output_tokens"), ("seconds", "seconds"), ("cost", "cost"), ("length", "steps")):
        if fields not in have:
            reasons[name] = "no rollout records it"
    if run.expected_from is None:
        reasons |= dict.fromkeys(("expected_rollouts", "missing_rollouts", "expected_from"), run.expected_why_not)
    known = {"model_name": run.model, "model_ref": run.model, "benchmark": run.benchmark, "agent": run.agent}
    reasons |= {name: "not recorded in the artifacts" for name, value in known.items() if value is None}
    if numbers.measures["pass_at_1"].value is not None and numbers.measures["pass_at_1"].interval is None:
        reasons["pass_at_1_ci"] = "one task: no interval over tasks"
    if numbers.variance.reason:
        reasons["variance"] = numbers.variance.reason
    return dict(sorted(reasons.items()))


class TaskDocument(JsonDocument, frozen=True, kw_only=True):
    """A row of tasks.jsonl; the cause is null where the evidence does not settle it, and `because` says why."""

    task_id: str
    bucket: str
    rollouts: int
    passed: int
    failed: int
    errored: int
    unscored: int
    missing: int | None
    mean_reward: float | None
    cause: Cause | None
    cause_code: str | None
    confidence: str | None
    because: str | None
    decided_by: str | None
    modes: dict[str, int]
    findings: tuple[str, ...]
    locations: tuple[str, ...]
    slices: dict[str, str]


def task(row: TaskResult) -> TaskDocument:
    """A row of tasks.jsonl."""
    decided = row.cause
    all_passed = row.passed == row.rollouts and not row.missing
    return TaskDocument.of(
        row,
        cause=decided.cause if decided else None,
        cause_code=decided.cause.code if decided and decided.cause else None,
        confidence=decided.confidence if decided else None,
        because=decided.because if decided else None if all_passed else "no diagnosis was made",
        decided_by=decided.decided_by if decided else None,
    )


class EvidenceDocument(JsonDocument, frozen=True, kw_only=True):
    """A verbatim quote and where it stands: a field of a step, or a dotted path of the row where `step` is null."""

    task_id: str
    repeat: int
    step: int | None
    field: str
    quote: str
    file: str | None
    line: int | None


class ModeDocument(JsonDocument, frozen=True, kw_only=True):
    """One row of the table of failure modes: every rollout that did not pass is in exactly one."""

    id: str
    name: str
    group: str
    party: str
    confidence: str
    rollouts: int
    tasks: int
    cause_code: str | None
    with_subject: int
    note: str
    location: str | None
    quote: str | None
    evidence: EvidenceDocument | None


class HeadroomDocument(JsonDocument, frozen=True, kw_only=True):
    """What the all-expected score could gain, three ways."""

    estimate: float | None
    ci: Limits | None
    only_defect: float
    ceiling: float
    unreached_tasks: int
    reason: str | None


class FindingDocument(JsonDocument, frozen=True, kw_only=True, rename={"task_ids": "tasks"}):
    """Something worth acting on; `fix` and `headroom` are null where failures are only described."""

    id: str
    title: str
    what: str
    against: str
    where: tuple[str, ...]
    fix: str | None
    kind: str
    support: Support
    rollouts: int
    task_ids: tuple[str, ...]
    locations: tuple[str, ...]
    headroom: HeadroomDocument | None
    evidence: tuple[EvidenceDocument, ...]


class TogetherDocument(JsonDocument, frozen=True, kw_only=True):
    """All interventions at once, counted once."""

    headroom: HeadroomDocument
    failures: int
    remain: int


class MomentDocument(JsonDocument, frozen=True, kw_only=True):
    """What one rollout did at a point, and what the agent last said or thought before it."""

    did: str
    evidence: EvidenceDocument | None
    before: EvidenceDocument | None


class DivergenceDocument(JsonDocument, frozen=True, kw_only=True, rename={"shared": "shared_actions"}):
    """Where a failing repeat leaves the way of a passing one."""

    party: str
    failing: int
    passing: int
    shared: int
    what: str
    failed: MomentDocument
    passed: MomentDocument


class ContrastDocument(JsonDocument, frozen=True, kw_only=True):
    """One sometimes-pass task: passing against failing repeats."""

    task_id: str
    passing: tuple[int, ...]
    failing: tuple[int, ...]
    lucky: tuple[int, ...]
    only_passing: tuple[str, ...]
    only_failing: tuple[str, ...]
    divergences: tuple[DivergenceDocument, ...]


class DeepDiveDocument(JsonDocument, frozen=True, kw_only=True):
    """One task looked at closely."""

    task_id: str
    bucket: str
    why: str
    due: str
    repeats: tuple[RepeatOutcome, ...]
    lines: tuple[str, ...]
    evidence: tuple[EvidenceDocument, ...]


class InterventionDocument(JsonDocument, frozen=True, kw_only=True, rename={"task_ids": "tasks"}):
    """Something to do, with the tasks and rollouts it is for and what it could give."""

    kind: str
    action: str
    source: str
    causes: tuple[Cause, ...]
    task_ids: tuple[str, ...]
    rollouts: int
    locations: tuple[str, ...]
    headroom: HeadroomDocument
    adds: float
    evidence: tuple[EvidenceDocument, ...]


class DoubtDocument(JsonDocument, frozen=True, kw_only=True):
    """What a rule over the run saw."""

    code: str
    strong: bool
    about: str
    tasks: tuple[str, ...]
    rollouts: int
    message: str
    evidence: tuple[EvidenceDocument, ...]


class AlarmDocument(JsonDocument, frozen=True, kw_only=True):
    """A word in results that alarms a reader, in passing and failing rollouts of the same tasks."""

    word: str
    fired_failed: int
    failed: int
    fired_passed: int
    passed: int
    harmless: bool
    evidence: tuple[EvidenceDocument, ...]


class LiftDocument(
    JsonDocument, frozen=True, kw_only=True, rename={"p_value": "p", "q_value": "q", "informative": "tasks"}
):
    """How a symptom goes with failing within tasks."""

    scope: str = "within tasks"
    risk_difference: float | None
    odds_ratio: float | None
    p_value: float | None
    q_value: float | None
    informative: int


class RuleDocument(JsonDocument, frozen=True, kw_only=True):
    """What one rule over rollouts saw in the run; `reason` says why it has no lift."""

    code: str
    name: str
    message: str
    suggests: Cause
    status: str
    support: Support
    fired: int
    checked: int
    skipped: int
    tasks: int
    fired_failed: int
    fired_passed: int
    failed: int
    passed: int
    lift: LiftDocument | None
    reason: str | None
    evidence: tuple[EvidenceDocument, ...]


class DoubtfulPassDocument(JsonDocument, frozen=True, kw_only=True):
    """A pass that may not mean what it seems."""

    location: str
    why: str
    evidence: EvidenceDocument | None


class RateDocument(JsonDocument, frozen=True, kw_only=True):
    """A number over `n` rollouts with its limits; `reason` says why there is none."""

    value: float | None
    ci: Limits | None
    n: int
    reason: str | None


class AgreementDocument(JsonDocument, frozen=True, kw_only=True):
    """How far two readers, or a reader and the rules, agree on the rollouts that both looked at."""

    first: str
    second: str
    rollouts: int
    mode: RateDocument
    party: RateDocument
    kappa: RateDocument
    party_kappa: RateDocument
    disagreements: tuple[Disagreement, ...]


class SampledShareDocument(JsonDocument, frozen=True, kw_only=True):
    """A share of all failures, or of all passes, estimated from a sample."""

    kind: str
    name: str
    hits: int
    share: RateDocument


class ReadSampleDocument(JsonDocument, frozen=True, kw_only=True):
    """What readers found in the rollouts that `blade sample` drew."""

    failures: int
    failures_drawn: int
    failures_in_all: int
    passes: int
    passes_drawn: int
    passes_in_all: int
    shares: tuple[SampledShareDocument, ...]


class ReadersDocument(JsonDocument, frozen=True, kw_only=True):
    """What readers said: how many attributions, how far they agree, and what their sample says of the rest."""

    used: int
    rollouts: int
    overruled: int
    by: dict[str, int]
    unused: tuple[str, ...]
    agreements: tuple[AgreementDocument, ...]
    sample: ReadSampleDocument | None


class FindingsDocument(JsonDocument, frozen=True, kw_only=True):
    """findings.json: what went wrong, with evidence; without a diagnosis `modes` is null and `reasons` says why."""

    schema_version: str
    run: str
    failed_rollouts: int | UnsetType = UNSET
    modes: tuple[ModeDocument, ...] | None
    findings: tuple[FindingDocument, ...] | UnsetType = UNSET
    together: TogetherDocument | UnsetType = UNSET
    contrasts: tuple[ContrastDocument, ...] | UnsetType = UNSET
    deep_dives: tuple[DeepDiveDocument, ...] | UnsetType = UNSET
    habits: tuple[Habit, ...] | UnsetType = UNSET
    interventions: tuple[InterventionDocument, ...] | UnsetType = UNSET
    doubts: tuple[DoubtDocument, ...] | UnsetType = UNSET
    passes_to_doubt: tuple[DoubtfulPassDocument, ...] | UnsetType = UNSET
    across_repeats: tuple[DoubtDocument, ...] | UnsetType = UNSET
    alarms: tuple[AlarmDocument, ...] | UnsetType = UNSET
    rules: tuple[RuleDocument, ...] | UnsetType = UNSET
    causes: dict[str, int] | UnsetType = UNSET
    readers: ReadersDocument | UnsetType = UNSET
    cut: tuple[str, ...] | UnsetType = UNSET
    reasons: dict[str, str] | UnsetType = UNSET


def findings(one: RunAnalysis) -> FindingsDocument:
    """The content of findings.json."""
    diagnosis = one.diagnosis
    if diagnosis is None:
        return FindingsDocument(
            schema_version=SCHEMA_VERSION, run=one.run.name, modes=None, reasons={"modes": one.why_not}
        )
    causes = Counter(str(cause.cause) if cause.cause else "not settled" for cause in diagnosis.causes.values())
    return FindingsDocument.of(
        diagnosis,
        schema_version=SCHEMA_VERSION,
        run=one.run.name,
        failed_rollouts=diagnosis.partition.table.height,
        modes=tuple(
            ModeDocument.of(
                mode,
                location=mode.evidence.location if mode.evidence else None,
                quote=mode.evidence.quote if mode.evidence else None,
            )
            for mode in diagnosis.partition.modes
        ),
        findings=tuple(
            FindingDocument.of(each, fix=each.fix or None, headroom=each.gain if each.fix else None)
            for each in diagnosis.findings
        ),
        across_repeats=diagnosis.across,
        rules=tuple(
            RuleDocument.of(rule, lift=LiftDocument.of(rule) if rule.reason is None else None)
            for rule in diagnosis.rule_statistics
        ),
        causes=dict(sorted(causes.items())),
        **({"readers": ReadersDocument.of(one.readers)} if one.readers is not None else {}),
    )
