"""What the score could gain if a symptom went away: three numbers, never one alone, on the all-expected score."""

from __future__ import annotations

from math import sqrt

import numpy as np

from blade.model.diagnosis import Headroom
from blade.model.measure import Interval
from blade.stats.intervals import ROUGH_BELOW
from blade.stats.rollout_index import Floats, Integers, RolloutIndex
from blade.stats.special_functions import student_quantile

METHOD = "t over tasks: affected rollouts take the mean of the task's unaffected ones"


def headroom(run: RolloutIndex, hit: Integers, only: Integers, *, estimable: bool = True) -> Headroom:
    """What fixing a symptom would give in the units of the score, for rollouts as `those` gives them.

    If `hit` rollouts did as well as their task's others; if those failures were fixed in which it is the `only` one;
    and if every hit that did not pass were. `estimable` is False for symptoms that are read from the verdict.
    """
    hits, judged_hit = run.per_task(hit), hit[run.judged[hit]]
    rest = run.judged_per_task - run.per_task(judged_hit)
    reached = (hits > 0) & (rest > 0)
    estimate, interval = None, None
    if estimable and reached.any():
        others = run.judged_worth - run.worth_per_task(judged_hit)
        usual = np.divide(others, rest, out=np.zeros(len(rest)), where=rest > 0)
        gains = np.where(reached, (hits * usual - run.worth_per_task(hit)) / run.sizes, 0.0)
        estimate, interval = _limits(gains)
    why_not = None if reached.any() else "no task has rollouts with it and rollouts without"
    if not estimable:
        why_not = "read from the verdict"
    return Headroom(
        estimate=estimate,
        interval=interval,
        only_defect=run.gain_if_fixed(only[run.failed[only]]),
        ceiling=run.gain_if_fixed(hit),
        unreached_tasks=int(((hits > 0) & (rest == 0)).sum()),
        reason=why_not,
        in_points=run.scale.in_points,
    )


def _limits(values: Floats) -> tuple[float, Interval | None]:
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, None
    half = student_quantile(n - 1, 0.975) * float(values.std(ddof=1)) / sqrt(n)
    interval = Interval(low=mean - half, high=mean + half, level=0.95, method=METHOD, n=n, rough=n < ROUGH_BELOW)
    return mean, interval
