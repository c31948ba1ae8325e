"""Limits of a mean over tasks.

The task is the unit: repeats of one task say little about the next one, so they make a task's score steadier and
never count as further units. Where tasks come in groups that stand or fall together, the group is the unit. A rate
has Wilson limits, any other mean has t limits, pass@k has a seeded percentile bootstrap. Every function gives None
where fewer than two units leave no spread to see.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from blade.core.measure import Interval

Floats = npt.NDArray[np.float64]

ROUGH_BELOW = 30
"""With fewer units than this an interval is called rough."""

NO_SPREAD = 1e-12
"""Scores closer together than this are equal: 1/3 reached by two roads differs in its last bit."""

CELLS_AT_ONCE = 4_000_000


def rate_interval(
    task_scores: npt.ArrayLike, rollouts: int, groups: npt.ArrayLike | None = None, level: float = 0.95
) -> Interval | None:
    """Wilson limits of the mean of task scores in [0, 1], with the n that the spread of the tasks is worth.

    Effective n = m(1 - m) / Var(m), at most the judged `rollouts`; where all units agree it is the number of units.
    The quantile is Student's, with units - 1 degrees of freedom. The limits always lie in [0, 1] and hold the mean,
    also where it is 0 or 1. `groups` names the group of each task, in the same order. None below two units; a score
    outside [0, 1] is no rate and raises ValueError.
    """
    scores = np.asarray(task_scores, dtype=np.float64)
    if not np.all((scores >= -NO_SPREAD) & (scores <= 1 + NO_SPREAD)):
        raise ValueError("a rate needs task scores between 0 and 1; use mean_interval for rewards")
    units, variance = _variance_of_mean(scores, groups)
    if units < 2:
        return None
    mean = min(1.0, max(0.0, float(scores.mean())))
    effective = min(mean * (1 - mean) / variance, float(rollouts)) if variance > 0 else float(units)
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


def bootstrap_interval(
    values: npt.ArrayLike, level: float = 0.95, *, seed: int = 0, resamples: int = 4000
) -> Interval | None:
    """Percentile bootstrap limits of the mean of per-task contributions in [0, 1], such as those of pass@k.

    The same values in any order, with the same seed, give the same limits to the last bit. Where all tasks agree
    there is nothing to draw from, and the limits are Wilson's (the method says so). None below two tasks.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) < 2:
        return None
    distinct, counts = np.unique(numbers, return_counts=True)
    if distinct[-1] - distinct[0] <= NO_SPREAD:
        return rate_interval(numbers, len(numbers), level=level)
    means = _resampled_means(distinct, counts, resamples, np.random.default_rng(seed))
    low, high = np.quantile(means, ((1 - level) / 2, (1 + level) / 2))
    return _interval(float(low), float(high), level, f"percentile bootstrap over tasks, seed {seed}", len(numbers))


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


def _wilson(mean: float, n: float, quantile: float) -> tuple[float, float]:
    squared = quantile**2
    middle = (mean + squared / (2 * n)) / (1 + squared / n)
    half = quantile * sqrt(mean * (1 - mean) / n + squared / (4 * n**2)) / (1 + squared / n)
    # The algebra keeps the mean inside; rounding may lose it by a bit when the mean is 0 or 1.
    return max(0.0, min(middle - half, mean)), min(1.0, max(middle + half, mean))


def _t_quantile(level: float, units: int) -> float:
    return float(stdtrit(units - 1, (1 + level) / 2))


def _resampled_means(distinct: Floats, counts: npt.NDArray[np.int64], times: int, draw: np.random.Generator) -> Floats:
    """Means of `times` samples with replacement, drawn as counts of the distinct values."""
    tasks = int(counts.sum())
    chunk = max(1, CELLS_AT_ONCE // len(distinct))
    sizes = [min(chunk, times - start) for start in range(0, times, chunk)]
    return np.concatenate([draw.multinomial(tasks, counts / tasks, size) @ distinct for size in sizes]) / tasks


def _interval(low: float, high: float, level: float, method: str, units: int) -> Interval:
    return Interval(low=low, high=high, level=level, method=method, n=units, rough=units < ROUGH_BELOW)


def _unit_name(groups: npt.ArrayLike | None) -> str:
    return "tasks" if groups is None else "groups"
