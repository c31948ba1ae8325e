"""What repeats tell: pass@k, pass^k, consistency and the value of a retry, all on the tasks with k judged rollouts.

The first three are means of task scores in [0, 1] and have the limits of a rate, with an n of at most the judged
rollouts / k; the value of a retry is a mean of differences and has t limits. Where the run has groups, these are the
units, as for the score itself.
"""

from __future__ import annotations

import numpy as np
from msgspec import structs

from blade.model.measure import Interval, Measure
from blade.stats.counts import Counts
from blade.stats.intervals import Floats, mean_interval, rate_interval
from blade.stats.pass_at_k import Contributions, pass_at_k, pass_hat_k

ONE_REPEAT = "one repeat: the usual task has one rollout"


def usual_repeats(counts: Counts) -> int:
    """The commonest number of expected rollouts, ties to the smaller."""
    values, how_often = np.unique(counts.expected[counts.expected > 0], return_counts=True)
    return int(values[np.argmax(how_often)]) if len(values) else 1


def pass_at(counts: Counts, k: int) -> Measure:
    """Chance that at least one of k rollouts passes."""
    return _rate(f"pass_at_{k}", counts, pass_at_k(counts.judged, counts.passed, k), k)


def pass_hat(counts: Counts, k: int) -> Measure:
    """Chance that all of k rollouts pass."""
    return _rate(f"pass_hat_{k}", counts, pass_hat_k(counts.judged, counts.passed, k), k)


def of_repeats(name: str, measure: Measure, k: int) -> Measure:
    """A measure of k rollouts under the name that it has where k is the usual number; none of one rollout."""
    if k == 1:
        return Measure(name=name, value=None, n=0, reason=ONE_REPEAT)
    return structs.replace(measure, name=name)


def retry_value(counts: Counts, k: int) -> Measure:
    """What k tries bring over one, on the same tasks; without an interval where they bring the same to every task."""
    if k == 1:
        return Measure(name="retry_value", value=None, n=0, reason=ONE_REPEAT)
    best = pass_at_k(counts.judged, counts.passed, k)
    gains = best.values - counts.passed[best.counted] / counts.judged[best.counted]
    return _measure("retry_value", gains, mean_interval(gains, groups=counts.groups_of(best.counted)), k)


def _rate(name: str, counts: Counts, tasks: Contributions, k: int) -> Measure:
    # One draw of k takes k rollouts, so J of them are worth J / k draws, however close together the tasks look.
    draws = float(counts.judged[tasks.counted].sum()) / k
    return _measure(name, tasks.values, rate_interval(tasks.values, draws, counts.groups_of(tasks.counted)), k)


def _measure(name: str, values: Floats, interval: Interval | None, k: int) -> Measure:
    if len(values) == 0:
        return Measure(name=name, value=None, n=0, reason=f"no task has {k} judged rollouts")
    return Measure(
        name=name, value=float(np.mean(values)), n=len(values), interval=interval, method="unbiased, over tasks"
    )
