"""Limits of a mean over tasks.

The task is the unit: repeats of one task say little about the next one, so they make a task's score steadier and
never count as further units. Where tasks come in groups that stand or fall together, the group is the unit. A rate,
and any other mean of task scores in [0, 1] such as pass@k, has Wilson limits; every other mean has t limits. No random
number is drawn. Every function gives None where fewer than two units leave no spread to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.model.measure import Interval
from blade.stats.special_functions import student_quantile

Floats = npt.NDArray[np.float64]

ROUGH_BELOW = 30
"""With fewer units than this an interval is called rough."""

NO_SPREAD = 1e-12
"""Scores closer together than this are equal: 1/3 reached by two roads differs in its last bit."""


def rate_interval(
    task_scores: npt.ArrayLike, rollouts: float, groups: npt.ArrayLike | None = None, level: float = 0.95
) -> Interval | None:
    """Wilson limits of the mean of task scores in [0, 1], with the n that the spread of the tasks is worth.

    That n is m(1 - m) / Var(m), at most the judged `rollouts` (or what they are worth: see `repeats`), drawn towards
    the number of units where few units ever pass or few ever fail (see `_effective_n`); where all units agree it is
    the number of units. The quantile is Student's, with units - 1 degrees of freedom. The limits always lie in [0, 1]
    and hold the mean, also where it is 0 or 1. `groups` names the group of each task, in the same order. None below
    two units; a score outside [0, 1] is no rate and raises ValueError.
    """
    scores = np.asarray(task_scores, dtype=np.float64)
    if not np.all((scores >= -NO_SPREAD) & (scores <= 1 + NO_SPREAD)):
        raise ValueError("a rate needs task scores between 0 and 1; use mean_interval for rewards")
    units, variance = _variance_of_mean(scores, groups)
    if units < 2:
        return None
    mean = min(1.0, max(0.0, float(scores.mean())))
    spread_n = min(mean * (1 - mean) / variance, float(rollouts)) if variance > 0 else float(units)
    effective = _effective_n(spread_n, units, _rarer_units(scores, groups))
    low, high = _wilson(mean, effective, _t_quantile(level, units))
    return _interval(low, high, level, f"Wilson, effective n over {_unit_name(groups)}", units)


def mean_interval(values: npt.ArrayLike, level: float = 0.95, groups: npt.ArrayLike | None = None) -> Interval | None:
    """Student's t limits of the mean of any values, one a task.

    For mean reward, paired differences, terms of the ledger and headroom. None below two units, and None where all
    units agree: limits without width would claim that no other value can come.
    """
    numbers = np.asarray(values, dtype=np.float64)
    units, variance = _variance_of_mean(numbers, groups)
    if units < 2 or variance == 0:
        return None
    mean, half = float(numbers.mean()), _t_quantile(level, units) * sqrt(variance)
    return _interval(mean - half, mean + half, level, f"t over {_unit_name(groups)}", units)


class ReadStratum(NamedTuple):
    """A stratum of a population of which some were drawn at random and read."""

    size: int
    read: int
    hits: int


def stratified_share(strata: Sequence[ReadStratum], level: float = 0.95) -> tuple[float, Interval | None]:
    """The share of hits in a population of strata, from those that were drawn and read in each, with its limits.

    The share is the mean of the strata's own, weighted by size. Its limits are Wilson's with the n that the variance of
    that mean is worth, where each stratum's variance is that of (hits + share) / (read + 1): of one or two that were
    read, all alike, the own variance would be none. What was not drawn is all that is uncertain, so no limit
    contradicts what was read, and there are none where everything was. Every stratum has some that were read.
    """
    total, read = sum(one.size for one in strata), sum(one.read for one in strata)
    share = sum(one.size * one.hits / one.read for one in strata) / total
    left = [(one, (one.size / total) ** 2 * (1 - one.read / one.size) / one.read) for one in strata]
    if not any(weight for _, weight in left):
        return share, None
    drawn_in = [(one.hits + share) / (one.read + 1) for one in strata]
    variance = sum(weight * p * (1 - p) for (_, weight), p in zip(left, drawn_in, strict=True))
    alike = 1 / sum(weight for _, weight in left)
    effective = min(share * (1 - share) / variance, total) if variance > 0 and 0 < share < 1 else alike
    low, high = _wilson(min(1.0, max(0.0, share)), effective, _t_quantile(level, max(2, read)))
    hits = sum(one.hits for one in strata)
    low, high = max(low, hits / total), min(high, 1 - (read - hits) / total)
    return share, _interval(low, high, level, "Wilson, effective n of a stratified sample", read)


def _variance_of_mean(values: Floats, groups: npt.ArrayLike | None) -> tuple[int, float]:
    """Number of units, and the variance of the mean over tasks; 0 where all units agree or there are fewer than two.

    A group's part is the sum of its tasks' distances from the mean, so a large group weighs as much as it does in
    the score. With groups of equal size this is the variance of the group means divided by their number.
    """
    if len(values) == 0:
        return 0, 0.0
    parts = values - values.mean()
    if groups is not None:
        parts = _sums_by_group(parts, groups)
    units = len(parts)
    if units < 2 or float(np.abs(parts).max()) <= NO_SPREAD:
        return units, 0.0
    return units, float(units / (units - 1) * np.sum(parts**2) / len(values) ** 2)


def _sums_by_group(parts: Floats, groups: npt.ArrayLike) -> Floats:
    names = np.asarray(groups)
    if len(names) != len(parts):
        raise ValueError(f"{len(parts)} tasks, but {len(names)} group names")
    _, index = np.unique(names, return_inverse=True)
    return np.bincount(index, weights=parts).astype(np.float64)


def _effective_n(spread_n: float, units: int, rarer: int) -> float:
    """(rarer + 1) / (rarer / spread_n + 1 / units), and never more than the spread is worth.

    A mean of variances: each unit of the rarer kind speaks for the spread that was seen, and one more for units that
    are as good as single trials. The spread of thirty tasks of which one or two ever pass is mostly not yet seen, and
    many repeats of those two hide it; with many such tasks their spread decides. Never more, because one large group
    may be worth less than the number of groups.
    """
    return min(spread_n, (rarer + 1) / (rarer / spread_n + 1 / units))


def _rarer_units(scores: Floats, groups: npt.ArrayLike | None) -> int:
    """Units with any pass or units with any failure, whichever are fewer; a group has what one of its tasks has."""
    passing, failing = scores > NO_SPREAD, scores < 1 - NO_SPREAD
    if groups is None:
        return int(min(passing.sum(), failing.sum()))
    names = np.asarray(groups)
    return min(len(np.unique(names[passing])), len(np.unique(names[failing])))


def _wilson(mean: float, n: float, quantile: float) -> tuple[float, float]:
    squared = quantile**2
    middle = (mean + squared / (2 * n)) / (1 + squared / n)
    half = quantile * sqrt(mean * (1 - mean) / n + squared / (4 * n**2)) / (1 + squared / n)
    # The algebra keeps the mean inside; rounding may lose it by a bit when the mean is 0 or 1.
    return max(0.0, min(middle - half, mean)), min(1.0, max(middle + half, mean))


def _t_quantile(level: float, units: int) -> float:
    return student_quantile(units - 1, (1 + level) / 2)


def _interval(low: float, high: float, level: float, method: str, units: int) -> Interval:
    return Interval(low=low, high=high, level=level, method=method, n=units, rough=units < ROUGH_BELOW)


def _unit_name(groups: npt.ArrayLike | None) -> str:
    return "tasks" if groups is None else "groups"
