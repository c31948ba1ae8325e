"""The headline under each reading of the rollouts, with its interval and denominators."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl
from msgspec import structs
from msgspec.structs import replace

from blade.model.analysis import HeadlineScore
from blade.model.measure import Interval, Measure
from blade.model.run import Run
from blade.stats.counts import COUNTED, Floats, Integers, TaskCounts, count
from blade.stats.headline import lowest
from blade.stats.infrastructure import NOT_AGENTS, PROVEN_NOT_AGENTS
from blade.stats.intervals import mean_interval, rate_interval


def judged_score(counts: TaskCounts, kind: str) -> HeadlineScore:
    """Mean over tasks with a judged rollout of their share of passes, or of their mean reward."""
    tops = counts.passed if kind == "pass_at_1" else counts.reward_sum
    return _score("judged", kind, counts, tops, counts.judged, "no rollout was judged")


def all_expected_score(run: Run, counts: TaskCounts, kind: str) -> HeadlineScore:
    """The same over all expected rollouts: what has no verdict counts as not passed."""
    if kind == "pass_at_1":
        return _score("all_expected", kind, counts, counts.passed, counts.expected, "no rollout was expected")
    tops = counts.reward_sum + lowest(run) * (counts.expected - counts.judged)
    return _score("all_expected", kind, counts, tops, counts.expected, "no rollout was expected")


def as_recorded_score(counts: TaskCounts, kind: str) -> HeadlineScore:
    """Every finite reward as the harness wrote it."""
    tops = counts.recorded_passed if kind == "pass_at_1" else counts.recorded_sum
    return _score("as_recorded", kind, counts, tops, counts.recorded, "no rollout has a finite reward")


def infra_excluded_score(run: Run, counts: TaskCounts, kind: str, broken: pl.Series | None) -> HeadlineScore:
    """Judged rollouts without infrastructure; `broken` marks it among the rows, None where nothing was attributed."""
    if broken is not None and broken.any():
        counts = count(replace(run, rollouts=run.rollouts.select(COUNTED).filter(~broken)))
    tops = counts.passed if kind == "pass_at_1" else counts.reward_sum
    return _score(
        "infra_excluded", kind, counts, tops, counts.judged, "no rollout was judged without machinery failing"
    )


def agents_own_scores(
    run: Run, attributed: pl.DataFrame, doubtful: Collection[str], kind: str
) -> tuple[HeadlineScore, ...]:
    """Judged rollouts without the failures that are not the agent's, proven ones alone and likely ones too, and without
    the passes at some locations that may not mean what they seem. Empty where there are none of either.
    """
    void = pl.format("{}#{}", "task_id", "repeat").is_in(sorted(doubtful))
    marks = attributed.select(proven=PROVEN_NOT_AGENTS | void, likely=NOT_AGENTS | void)
    if not marks["likely"].any():
        return ()
    return (
        _without(run, marks["proven"], "proven_not_agents_excluded", kind),
        _without(run, marks["likely"], "not_agents_excluded", kind),
    )


def _without(run: Run, left_out: pl.Series, name: str, kind: str) -> HeadlineScore:
    counts = count(replace(run, rollouts=run.rollouts.select(COUNTED).filter(~left_out)))
    tops = counts.passed if kind == "pass_at_1" else counts.reward_sum
    return _score(name, kind, counts, tops, counts.judged, "no rollout is left")


def suspects_excluded_score(counts: TaskCounts, kind: str, suspects: Collection[str] | None) -> HeadlineScore:
    """Judged rollouts of tasks that nothing speaks against; `suspects` is None where no diagnosis was made."""
    if suspects is None:
        reason = "tasks are suspected by a diagnosis, and none was made"
        return HeadlineScore(
            name="suspects_excluded", value=None, interval=None, n_tasks=0, n_rollouts=0, reason=reason
        )
    rest = counts.without(suspects) if suspects else counts
    return structs.replace(judged_score(rest, kind), name="suspects_excluded")


def as_measure(score: HeadlineScore, name: str) -> Measure:
    """A score as a measure over its tasks."""
    return Measure(name=name, value=score.value, n=score.n_tasks, interval=score.interval, reason=score.reason)


def rollout_pass_rate(counts: TaskCounts) -> Measure:
    """Passes over judged rollouts; tasks with more repeats weigh more."""
    judged = int(counts.judged.sum())
    if judged == 0:
        return Measure(name="rollout_pass_rate", value=None, n=0, reason="no rollout was judged")
    return Measure(name="rollout_pass_rate", value=int(counts.passed.sum()) / judged, n=judged)


def mean_reward(counts: TaskCounts) -> Measure:
    """Mean over rollouts with a finite recorded reward."""
    recorded = int(counts.recorded.sum())
    if recorded == 0:
        return Measure(name="mean_reward", value=None, n=0, reason="no rollout has a finite reward")
    return Measure(name="mean_reward", value=float(counts.recorded_sum.sum()) / recorded, n=recorded)


def coverage(run: Run, counts: TaskCounts) -> Measure:
    """Judged rollouts over expected ones."""
    expected = int(counts.expected.sum())
    if run.expected_from is None:
        return Measure(name="coverage", value=None, n=expected, reason=run.expected_why_not)
    if expected == 0:
        return Measure(name="coverage", value=None, n=0, reason="nothing was expected")
    return Measure(name="coverage", value=int(counts.judged.sum()) / expected, n=expected)


def interval_of(kind: str, scores: Floats, rollouts: int, groups: list[str] | None) -> Interval | None:
    """The interval that fits the kind of score."""
    if kind == "pass_at_1":
        return rate_interval(scores, rollouts, groups)
    interval = mean_interval(scores, groups=groups)
    if interval is None:
        return None
    # A mean lies where rewards lie: between 0 and 1 as far as anybody knows, and as far out as any was seen.
    low, high = min(0.0, float(scores.min())), max(1.0, float(scores.max()))
    return structs.replace(interval, low=max(interval.low, low), high=min(interval.high, high))


def _score(
    name: str, kind: str, counts: TaskCounts, tops: Floats | Integers, bottoms: Integers, why_not: str
) -> HeadlineScore:
    kept = bottoms > 0
    n_rollouts = int(bottoms.sum())
    if not kept.any():
        return HeadlineScore(name=name, value=None, interval=None, n_tasks=0, n_rollouts=0, reason=why_not)
    scores = tops[kept] / bottoms[kept]
    interval = interval_of(kind, scores, n_rollouts, counts.groups_of(kept))
    return HeadlineScore(
        name=name, value=float(np.mean(scores)), interval=interval, n_tasks=int(kept.sum()), n_rollouts=n_rollouts
    )
