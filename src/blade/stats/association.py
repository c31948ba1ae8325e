"""Does a symptom go with failing, once every task is compared with itself?

Hard tasks make long, loopy, error-ridden rollouts, pass or fail. So each task is a stratum: given how many of its
rollouts failed and in how many the symptom fired, which of them coincide is pure chance if the symptom does not
matter. Adding up that chance over tasks gives an exact p-value, free of how hard each task is.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.model.measure import Interval
from blade.stats.intervals import NO_SPREAD, ROUGH_BELOW
from blade.stats.paired import as_probability
from blade.stats.special_functions import log_choose, student_quantile

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

EXACT_SUPPORT = 5_000
"""The most rollouts in which the symptom fired for which the exact distribution is worked out."""

SHORT = 11
"""The longest distributions of which many pairs are joined at once."""

EXACT = "conditional on each task, exact by convolution"
NORMAL = "conditional on each task, normal tail"


class Strata(Struct, frozen=True, kw_only=True, eq=False):
    """A two by two table for each task, as four counts of its judged rollouts."""

    both: Integers
    """Symptom fired, rollout failed."""
    fired: Integers
    failed: Integers
    total: Integers

    @property
    def contrasted(self) -> Flags:
        """Tasks with rollouts in which the symptom fired and others in which it was quiet."""
        return (self.fired > 0) & (self.fired < self.total)

    @property
    def informative(self) -> Flags:
        """Contrasted tasks that have both outcomes: only these can speak for or against."""
        return self.contrasted & (self.failed > 0) & (self.failed < self.total)

    def only(self, mask: Flags) -> Strata:
        """The tasks where `mask` holds."""
        return Strata(both=self.both[mask], fired=self.fired[mask], failed=self.failed[mask], total=self.total[mask])


class JudgedRollouts(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """Judged rollouts, over which one symptom after the other is counted."""

    task: Integers
    """The number of each one's task."""
    failed: Flags

    @cached_property
    def _ended(self) -> Integers:
        """Task and outcome of each in one number."""
        return self.task * 2 + self.failed

    @cached_property
    def _margins(self) -> tuple[Integers, Integers]:
        """Of each task: how many failed, and how many there are."""
        passes, failures = np.bincount(self._ended, minlength=2 * self._tasks).reshape(-1, 2).T
        return failures, passes + failures

    @cached_property
    def _tasks(self) -> int:
        return int(self.task.max(initial=-1)) + 1

    def strata(self, fired: Flags) -> Strata:
        """One table a task, in the order of the numbers; numbers that no rollout has have empty ones."""
        passes, both = np.bincount(self._ended[fired], minlength=2 * self._tasks).reshape(-1, 2).T
        failed, total = self._margins
        return Strata(both=both, fired=passes + both, failed=failed, total=total)


class Association(Struct, frozen=True, kw_only=True):
    """How a symptom goes with failing within tasks; every number is None where no task is informative."""

    p_value: float | None
    """Two-sided: the chance of anything as unlikely as what was seen."""
    p_greater: float | None
    """One-sided: the chance of at least as many failures among the rollouts in which it fired."""
    informative: int
    """Tasks with both outcomes and both fired and quiet."""
    risk_difference: float | None
    """Mantel-Haenszel: how much more often rollouts fail where it fired, within a task."""
    interval: Interval | None
    """95 % limits of the risk difference; None below two informative tasks, or where all tasks have the same one."""
    odds_ratio: float | None
    """Mantel-Haenszel; also None where it is infinite, which is when no quiet rollout failed beside a fired pass."""
    method: str
    reason: str | None = None


def within_tasks(tasks: npt.ArrayLike, fired: npt.ArrayLike, failed: npt.ArrayLike) -> Association:
    """The association over judged rollouts: the task of each, whether the symptom fired, whether it failed.

    Rollouts that could not be looked at must be left out by the caller. Their order does not matter.
    """
    return associate(count_strata(tasks, fired, failed))


def count_strata(tasks: npt.ArrayLike, fired: npt.ArrayLike, failed: npt.ArrayLike) -> Strata:
    """One table a task, in the order of the task names."""
    _, numbers = np.unique(np.asarray(tasks), return_inverse=True)
    judged = JudgedRollouts(task=numbers.astype(np.int64), failed=np.asarray(failed, dtype=np.bool_))
    return judged.strata(np.asarray(fired, dtype=np.bool_))


def associate(strata: Strata) -> Association:
    """Test and measure the association within tasks."""
    telling = strata.only(strata.informative)
    count = len(telling.total)
    if count == 0:
        return _nothing_to_compare()
    p_value, p_greater, method = _test(telling)
    difference, interval = _risk_difference(strata.only(strata.contrasted), count)
    return Association(
        p_value=p_value,
        p_greater=p_greater,
        informative=count,
        risk_difference=difference,
        interval=interval,
        odds_ratio=_odds_ratio(telling),
        method=method,
    )


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """q-values in the order given: calling everything with q <= 0.05 keeps the expected share of false calls at 5 %.

    `p_values` is the whole family, everything that a report tested, and not only what looked good.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")[::-1]
    ranks = np.arange(len(p), 0, -1)
    q = np.empty_like(p)
    q[order] = np.minimum(np.minimum.accumulate(p[order] * len(p) / ranks), 1.0)
    return q


def _nothing_to_compare() -> Association:
    return Association(
        p_value=None,
        p_greater=None,
        informative=0,
        risk_difference=None,
        interval=None,
        odds_ratio=None,
        method="",
        reason="no task has both outcomes and both rollouts in which it fired and in which it was quiet",
    )


def _test(telling: Strata) -> tuple[float, float, str]:
    if int(telling.fired.sum()) > EXACT_SUPPORT:
        return *_normal_tails(telling), NORMAL
    least = np.maximum(0, telling.fired + telling.failed - telling.total)
    chances = _chances_of_sum(telling)
    seen = int(telling.both.sum() - least.sum())
    # Two overlaps that are equally likely may differ in their last bits.
    as_unlikely = chances <= chances[seen] * (1 + 1e-7)
    return as_probability(chances[as_unlikely].sum()), as_probability(chances[seen:].sum()), EXACT


@lru_cache(maxsize=4096)
def _overlap_chances(total: int, failed: int, fired: int) -> Floats:
    """Hypergeometric chances of each overlap of the two sets, from the least possible to the most."""
    overlap = np.arange(max(0, fired + failed - total), min(fired, failed) + 1)
    logs = log_choose(failed, overlap) + log_choose(total - failed, fired - overlap)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _chances_of_sum(telling: Strata) -> Floats:
    """Distribution of the sum of the overlaps; neighbors are joined in pairs, so that most of the work is on short arrays."""
    parts = _chances_of_few(telling)
    while len(parts) > 1:
        joined = [np.convolve(left, right) for left, right in zip(parts[::2], parts[1::2], strict=False)]
        parts = joined + parts[len(joined) * 2 :]
    return parts[0]


def _chances_of_few(telling: Strata) -> list[Floats]:
    """Distributions of a few neighbors each: as many as have short ones, all of which are joined at once."""
    most = int(telling.total.max()) + 1
    codes, which = np.unique((telling.total * most + telling.failed) * most + telling.fired, return_inverse=True)
    kinds = [_overlap_chances(code // most**2, code // most % most, code % most) for code in codes.tolist()]
    sizes = np.array(list(map(len, kinds)))
    table = np.zeros((len(kinds), sizes.max()))
    for row, kind in zip(table, kinds, strict=True):
        row[: len(kind)] = kind
    rows, lengths = table[which], sizes[which]
    while len(rows) > 1 and rows.shape[1] <= SHORT:
        rows, lengths = _joined(rows, lengths)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]


def _joined(rows: Floats, lengths: Integers) -> tuple[Floats, Integers]:
    """Each two neighbors convolved, and the last as it is where it has none; rows end in zeros, `lengths` say where."""
    pairs, width = len(rows) // 2, rows.shape[1]
    left, right = rows[0 : 2 * pairs : 2], rows[1 : 2 * pairs : 2]
    # Sums are added up along the longer of the two, as `np.convolve` does: the bits do not depend on how many are joined.
    turned = (lengths[0 : 2 * pairs : 2] < lengths[1 : 2 * pairs : 2])[:, None]
    longer, shorter = np.where(turned, right, left), np.where(turned, left, right)
    found = np.zeros((len(rows) - pairs, 2 * width - 1))
    for place in range(width):
        found[:pairs, place : place + width] += longer[:, place : place + 1] * shorter
    found[pairs:, :width] = rows[2 * pairs :]
    sums = lengths[0 : 2 * pairs : 2] + lengths[1 : 2 * pairs : 2] - 1
    return found, np.concatenate([sums, lengths[2 * pairs :]])


def _normal_tails(telling: Strata) -> tuple[float, float]:
    """Two-sided and upper tail with the mean and variance of the exact distribution and a continuity correction."""
    fired, failed, total = telling.fired, telling.failed, telling.total
    excess = float(np.sum(telling.both - fired * failed / total))
    variance = np.sum(fired * (total - fired) * failed * (total - failed) / (total**2 * (total - 1)))
    scale = sqrt(2 * float(variance))
    return as_probability(erfc(max(0.0, abs(excess) - 0.5) / scale)), as_probability(erfc((excess - 0.5) / scale) / 2)


def _risk_difference(contrasted: Strata, informative: int) -> tuple[float, Interval | None]:
    """Mantel-Haenszel risk difference, with t limits over tasks on informative - 1 degrees of freedom.

    Contrasted tasks with one outcome show a difference of 0 and belong to the mean; leaving them out would choose
    tasks by their outcome. They add little about its spread, so they add no degrees of freedom.
    """
    quiet = contrasted.total - contrasted.fired
    weights = contrasted.fired * quiet / contrasted.total
    parts = (contrasted.both * quiet - (contrasted.failed - contrasted.both) * contrasted.fired) / contrasted.total
    difference = float(parts.sum() / weights.sum())
    return difference, _t_limits(difference, parts - difference * weights, float(weights.sum()), informative)


def _t_limits(difference: float, residuals: Floats, weight: float, informative: int) -> Interval | None:
    """Limits that allow the difference to vary from task to task; they never reach beyond -1 and 1."""
    units = len(residuals)
    if informative < 2 or float(np.abs(residuals).max()) <= NO_SPREAD:
        return None
    se = sqrt(units / (units - 1) * float(np.sum(residuals**2))) / weight
    half = student_quantile(informative - 1, 0.975) * se
    return Interval(
        low=max(-1.0, difference - half),
        high=min(1.0, difference + half),
        level=0.95,
        method="t over tasks, Mantel-Haenszel weights",
        n=informative,
        rough=informative < ROUGH_BELOW,
    )


def _odds_ratio(telling: Strata) -> float | None:
    fired_passed = telling.fired - telling.both
    quiet_failed = telling.failed - telling.both
    quiet_passed = telling.total - telling.fired - quiet_failed
    against = float(np.sum(fired_passed * quiet_failed / telling.total))
    return float(np.sum(telling.both * quiet_passed / telling.total)) / against if against else None
