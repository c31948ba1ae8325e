"""What repeats tell: pass@k, pass^k, consistency and the value of a retry, all on the tasks with k judged rollouts.

pass@k: at least one of k rollouts drawn without replacement passes. pass^k: all k of them do. Both are unbiased for
any J >= k; a task with fewer judged rollouts has neither, and is left out rather than guessed. They are means of task
scores in [0, 1] and have the limits of a rate, with an n of at most the judged rollouts / k; the value of a retry is a
mean of differences and has t limits. Where the run has groups, these are the units, as for the score itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from blade.model.measure import Interval, Measure
from blade.stats.counts import TaskCounts
from blade.stats.intervals import Floats, mean_interval, rate_interval

ONE_REPEAT = "one repeat: the usual task has one rollout"


class Contributions(Struct, frozen=True, kw_only=True, eq=False):
    """What each task adds to a mean over tasks."""

    values: npt.NDArray[np.float64]
    """One value in [0, 1] for each task that has enough judged rollouts, in the order of the tasks."""
    counted: npt.NDArray[np.bool_]
    """For every task that was given: whether it is among `values`."""

    @property
    def n(self) -> int:
        """The number of tasks that count."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """The measure itself; None where no task has k judged rollouts."""
        return float(self.values.mean()) if self.n else None


def pass_at_k(judged: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> Contributions:
    """1 - C(J - c, k) / C(J, k) of every task with J >= k."""
    totals, passes, counted = _countable(judged, passed, k)
    return Contributions(values=1 - _share_of_draws(totals - passes, totals, k), counted=counted)


def pass_hat_k(judged: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> Contributions:
    """pass^k: C(c, k) / C(J, k) of every task with J >= k."""
    totals, passes, counted = _countable(judged, passed, k)
    return Contributions(values=_share_of_draws(passes, totals, k), counted=counted)


def _countable(
    judged: npt.ArrayLike, passed: npt.ArrayLike, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    totals, passes = np.asarray(judged, dtype=np.int64), np.asarray(passed, dtype=np.int64)
    if k < 1:
        raise ValueError(f"k is the number of rollouts drawn, at least 1, not {k}")
    if totals.shape != passes.shape or np.any((passes < 0) | (passes > totals)):
        raise ValueError("each task needs 0 <= passed <= judged")
    counted = totals >= k
    return totals[counted], passes[counted], counted


def _share_of_draws(marked: npt.NDArray[np.int64], totals: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.float64]:
    """C(marked, k) / C(totals, k), as a product of k ratios: no factorial is ever formed, so nothing overflows."""
    share = np.ones(len(totals), dtype=np.float64)
    for drawn in range(k):
        share *= np.maximum(marked - drawn, 0) / (totals - drawn)
    return share


def usual_repeats(counts: TaskCounts) -> int:
    """The commonest number of expected rollouts, ties to the smaller."""
    values, how_often = np.unique(counts.expected[counts.expected > 0], return_counts=True)
    return int(values[np.argmax(how_often)]) if len(values) else 1


def pass_at(counts: TaskCounts, k: int) -> Measure:
    """Chance that at least one of k rollouts passes."""
    return _rate(f"pass_at_{k}", counts, pass_at_k(counts.judged, counts.passed, k), k)


def pass_hat(counts: TaskCounts, k: int) -> Measure:
    """Chance that all of k rollouts pass."""
    return _rate(f"pass_hat_{k}", counts, pass_hat_k(counts.judged, counts.passed, k), k)


def of_repeats(name: str, measure: Measure, k: int) -> Measure:
    """A measure of k rollouts under the name that it has where k is the usual number; none of one rollout."""
    if k == 1:
        return Measure(name=name, value=None, n=0, reason=ONE_REPEAT)
    return structs.replace(measure, name=name)


def retry_value(counts: TaskCounts, k: int) -> Measure:
    """What k tries bring over one, on the same tasks; without an interval where they bring the same to every task."""
    if k == 1:
        return Measure(name="retry_value", value=None, n=0, reason=ONE_REPEAT)
    best = pass_at_k(counts.judged, counts.passed, k)
    gains = best.values - counts.passed[best.counted] / counts.judged[best.counted]
    return _measure("retry_value", gains, mean_interval(gains, groups=counts.groups_of(best.counted)), k)


def _rate(name: str, counts: TaskCounts, tasks: Contributions, k: int) -> Measure:
    # One draw of k takes k rollouts, so J of them are worth J / k draws, however close together the tasks look.
    draws = float(counts.judged[tasks.counted].sum()) / k
    return _measure(name, tasks.values, rate_interval(tasks.values, draws, counts.groups_of(tasks.counted)), k)


def _measure(name: str, values: Floats, interval: Interval | None, k: int) -> Measure:
    if len(values) == 0:
        return Measure(name=name, value=None, n=0, reason=f"no task has {k} judged rollouts")
    return Measure(
        name=name, value=float(np.mean(values)), n=len(values), interval=interval, method="unbiased, over tasks"
    )
