"""Every number that an analysis knows, by run, scope and subject, with its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from blade.model.analysis import Analysis, FunnelStage, RunAnalysis

POOLED = "*"
"""In place of a run: all of them taken together."""


class KnownNumber(Struct, frozen=True, kw_only=True):
    """One value; several facts may share run, scope and subject, where a word has more than one honest reading."""

    run: str
    scope: str
    """Empty for the run; else `slice:difficulty=hard`, `task:39`, `stage:started`, `bucket:never_pass`, `mode:ID`, `rule:CODE`."""
    subject: str
    value: float
    source: str


Key = tuple[str, str, str]


class KnownNumbers:
    """Looks facts up by run, scope and subject."""

    def __init__(self, analysis: Analysis) -> None:
        self._by_key: dict[Key, list[KnownNumber]] = {}
        for fact in _all(analysis):
            self._by_key.setdefault((fact.run, fact.scope, fact.subject), []).append(fact)

    def of(self, run: str, scope: str, subject: str) -> list[KnownNumber]:
        """The facts, none when there is no such thing."""
        return self._by_key.get((run, scope, subject), [])


def _all(analysis: Analysis) -> Iterator[KnownNumber]:
    for one in analysis.runs:
        makers = (_counts, _scores, _repeats, _spread, _usage, _buckets, _funnel, _slices, _tasks, _diagnosed)
        for make in makers:
            for scope, subject, value, source in make(one):
                if value is not None:
                    yield KnownNumber(run=one.run.name, scope=scope, subject=subject, value=float(value), source=source)
    yield from _pooled(analysis)
    yield from _between(analysis)


Row = tuple[str, str, float | None, str]


def _counts(one: RunAnalysis) -> Iterator[Row]:
    counts, source = one.metrics.counts, "metrics.json"
    passed, failed = counts["passed_rollouts"] or 0, counts["failed_rollouts"] or 0
    yield "", "passed", passed, f"{source}: passed_rollouts"
    yield "", "failed", failed, f"{source}: failed_rollouts"
    yield "", "judged", passed + failed, f"{source}: passed_rollouts + failed_rollouts"
    for name in ("errored", "unscored", "missing", "duplicate"):
        yield "", name, counts[f"{name}_rollouts"], f"{source}: {name}_rollouts"
    yield (
        "",
        "unjudged",
        (counts["errored_rollouts"] or 0) + (counts["unscored_rollouts"] or 0),
        f"{source}: errored_rollouts",
    )
    yield "", "rollouts", counts["total_rollouts"], f"{source}: total_rollouts"
    yield "", "found", counts["total_rollouts"], f"{source}: total_rollouts"
    yield "", "expected", counts["expected_rollouts"], f"{source}: expected_rollouts"
    yield "", "tasks", counts["total_tasks"], f"{source}: total_tasks"
    yield "", "incomplete", one.metrics.incomplete_tasks, "tasks.jsonl: tasks that lack a verdict"
    yield "", "threshold", one.run.pass_threshold, f"{source}: pass_threshold"
    yield "", "problems", one.run.problem_count, f"{source}: problems"
    rows = [artifact.rows for artifact in one.run.artifacts if artifact.role == "rollouts"]
    yield "", "rows", sum(rows) or None, "metrics.json: artifacts"
    for name, value in one.run.settings.items():
        yield "", f"setting:{name}", _number(value), f"settings of the run: {name}"
    yield "", "failing_tasks", sum(task.passed < task.judged for task in one.tasks), "tasks.jsonl"
    yield "", "solved_tasks", sum(task.passed > 0 for task in one.tasks), "tasks.jsonl: tasks with a pass"
    yield "", "error_share", (counts["errored_rollouts"] or 0) / max(counts["total_rollouts"] or 0, 1), source
    yield "", "fail_rate", failed / (passed + failed) if passed + failed else None, f"{source}: failed of judged"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _scores(one: RunAnalysis) -> Iterator[Row]:
    metrics = one.metrics
    for score in metrics.scores:
        yield "", f"score:{score.name}", score.value, f"metrics.json: scores.{score.name}"
        if score.name in ("judged", "as_recorded", "all_expected"):
            yield "", "rate", score.value, f"metrics.json: scores.{score.name}"
        if score.interval is not None and score.name in ("judged", "all_expected"):
            yield "", "low", score.interval.low, f"metrics.json: scores.{score.name}.ci"
            yield "", "high", score.interval.high, f"metrics.json: scores.{score.name}.ci"
            yield "", "level", score.interval.level, f"metrics.json: scores.{score.name}.ci"
    for name, measure in metrics.measures.items():
        yield "", name, measure.value, f"metrics.json: {name}"
    yield "", "rate", metrics.measures["rollout_pass_rate"].value, "metrics.json: rollout_pass_rate"
    yield "", "fail_share", _less(metrics.measures["rollout_pass_rate"].value), "metrics.json: 1 - rollout_pass_rate"
    for base in metrics.baselines:
        yield "", f"baseline:{base.name}", base.value, f"metrics.json: baselines.{base.name}"


def _less(value: float | None) -> float | None:
    return None if value is None else 1 - value


def _repeats(one: RunAnalysis) -> Iterator[Row]:
    metrics = one.metrics
    yield "", "repeats", metrics.k, "metrics.json: k"
    for k, measure in metrics.pass_at.items():
        yield "", f"pass_at:{k}", measure.value, f"metrics.json: pass@{k}"
    for k, measure in metrics.pass_hat.items():
        yield "", f"pass_hat:{k}", measure.value, f'metrics.json: pass_hat_k["{k}"]'
    if metrics.k is not None and metrics.k > 1:
        yield "", "pass_at:k", metrics.measures["pass_at_k"].value, "metrics.json: pass_at_k"
        yield "", "pass_hat:k", metrics.measures["consistency"].value, "metrics.json: consistency"


def _spread(one: RunAnalysis) -> Iterator[Row]:
    spread = one.metrics.variance
    for name in ("total", "within", "between", "reliability", "se_new_tasks", "se_same_tasks"):
        yield "", f"variance:{name}", getattr(spread, name), f"metrics.json: variance.{name}"
    yield "", "reliability", spread.reliability, "metrics.json: variance.reliability"


def _usage(one: RunAnalysis) -> Iterator[Row]:
    for usage in one.metrics.usage:
        source = f"metrics.json: {usage.name}"
        for name in ("total", "mean", "median", "passed_median", "failed_median", "n"):
            yield "", f"{name}:{usage.name}", getattr(usage, name), f"{source}.{name}"


def _buckets(one: RunAnalysis) -> Iterator[Row]:
    total = one.metrics.counts["total_tasks"] or 0
    for name, count in one.metrics.buckets.items():
        yield f"bucket:{name}", "tasks", count, f"metrics.json: buckets.{name}"
        yield (
            f"bucket:{name}",
            "share",
            count / total if total else None,
            f"metrics.json: buckets.{name} of total_tasks",
        )


def _funnel(one: RunAnalysis) -> Iterator[Row]:
    stages = one.metrics.funnel.stages
    before: FunnelStage | None = None
    for stage in stages:
        scope, source = f"stage:{stage.name}", "metrics.json: funnel"
        yield scope, "rollouts", stage.rollouts, source
        yield scope, "share_before", stage.share, source
        yield scope, "share_first", stage.rollouts / stages[0].rollouts if stages[0].rollouts else None, source
        yield scope, "drop", _less(stage.share), source
        yield scope, "lost", before.rollouts - stage.rollouts if before is not None else 0, source
        before = stage


def _slices(one: RunAnalysis) -> Iterator[Row]:
    for field, value in ((field, value) for field, values in one.metrics.slices.items() for value in values):
        scope, source = f"slice:{field}={value.value.lower()}", f"metrics.json: slices.{field}.{value.value}"
        yield scope, "tasks", value.tasks, source
        yield scope, "judged", value.rollouts, source
        yield scope, "rollouts", value.rollouts, source
        yield scope, "passed", value.passed, source
        yield scope, "failed", value.rollouts - value.passed, source
        for rate in (value.pass_at_1, value.passed / value.rollouts if value.rollouts else None):
            yield scope, "rate", rate, source
            yield scope, "fail_rate", _less(rate), source
        if value.interval is not None:
            yield scope, "low", value.interval.low, source
            yield scope, "high", value.interval.high, source


def _tasks(one: RunAnalysis) -> Iterator[Row]:
    for task in one.tasks:
        scope, source = f"task:{task.task_id}", f"tasks.jsonl: task {task.task_id}"
        yield scope, "rate", task.score, source
        yield scope, "fail_rate", _less(task.score), source
        yield scope, "mean_reward", task.mean_reward, source
        for name in ("rollouts", "judged", "passed", "failed", "errored", "unscored", "missing"):
            yield scope, name, getattr(task, name), source


def _diagnosed(one: RunAnalysis) -> Iterator[Row]:
    found = one.diagnosis
    if found is None:
        return
    failed = one.metrics.counts["failed_rollouts"] or 0
    for mode in found.partition.modes:
        scope, source = f"mode:{mode.id}", f"findings.json: modes.{mode.id}"
        yield scope, "rollouts", mode.rollouts, source
        yield scope, "failed", mode.rollouts, source
        yield scope, "tasks", mode.tasks, source
        yield scope, "share", mode.rollouts / failed if failed else None, source
    for rule in found.rule_statistics:
        scope, source = f"rule:{rule.code}", f"findings.json: detectors.{rule.code}"
        yield scope, "rollouts", rule.fired, source
        yield scope, "failed", rule.fired_failed, source
        yield scope, "passed", rule.fired_passed, source
        yield scope, "tasks", rule.tasks, source
        yield scope, "checked", rule.checked, source
    causes = Counter(str(cause.cause) if cause.cause else "not settled" for cause in found.causes.values())
    for name, count in causes.items():
        yield f"cause:{name}", "tasks", count, "tasks.jsonl: cause"


def _pooled(analysis: Analysis) -> Iterator[KnownNumber]:
    """Counts over all runs together."""
    if len(analysis.runs) < 2:
        return
    for name in ("total_rollouts", "expected_rollouts", "passed_rollouts", "failed_rollouts", "errored_rollouts"):
        subject = {"total_rollouts": "rollouts", "expected_rollouts": "expected"}.get(name, name.partition("_")[0])
        values = [one.metrics.counts[name] for one in analysis.runs]
        if None not in values:
            total = float(sum(value or 0 for value in values))
            yield KnownNumber(
                run=POOLED, scope="", subject=subject, value=total, source=f"metrics.json of all runs: {name}"
            )
    judged = sum(
        (one.metrics.counts["passed_rollouts"] or 0) + (one.metrics.counts["failed_rollouts"] or 0)
        for one in analysis.runs
    )
    yield KnownNumber(run=POOLED, scope="", subject="judged", value=float(judged), source="metrics.json of all runs")
    yield KnownNumber(run=POOLED, scope="", subject="runs", value=float(len(analysis.runs)), source="the runs given")


def _between(analysis: Analysis) -> Iterator[KnownNumber]:
    """Tasks that pairs of runs share, and by how much one is ahead on them."""
    if len(analysis.runs) != 2:
        return
    for first, second in zip(*map(_headline, analysis.runs), strict=False):
        yield KnownNumber(
            run=POOLED, scope="", subject="gap", value=abs(first - second), source="metrics.json of both runs"
        )
    for (first_name, second_name), (tasks, left, right) in analysis.shared.items():
        source = f"tasks.jsonl of {first_name} and {second_name}"
        yield KnownNumber(run=POOLED, scope="", subject="gap", value=abs(left - right), source=source)
        yield KnownNumber(run=POOLED, scope="", subject="shared", value=float(tasks), source=source)


def _headline(one: RunAnalysis) -> Iterable[float]:
    """The readings of the score that a report may set side by side, in one order."""
    rate = one.metrics.measures["rollout_pass_rate"].value
    by_name = {score.name: score.value for score in one.metrics.scores}
    return [value for value in (by_name["judged"], by_name["all_expected"], rate) if value is not None]
