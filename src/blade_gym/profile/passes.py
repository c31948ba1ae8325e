"""The pass@k family as NeMo Gym gives it for `accuracy` = reward: percent, first-come repeats, its own habits.

Kept because dashboards hold these numbers, not because they are right: tasks with fewer than k rollouts drop out of
pass@k, and a task with partial credit counts as the best of its first k. `honest.py` has ours. Sums are exact before
they are rounded, so neither the order of tasks nor the version of Python changes a digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from blade_gym.profile.groups import Floats, Integers

NAME = "accuracy"


def family(rewards: Floats) -> dict[str, Any]:
    """Every key of the family; `rewards` is task x repeat in order of repeat, NaN where there is none."""
    there = ~np.isnan(rewards)
    if not there.any():
        return {}
    clear = np.where(there, (rewards == 0) | (rewards == 1), True).all(axis=1)
    parts = (_Binary(rewards[clear]), _Partial(rewards[~clear]))
    most = int(np.flatnonzero(there.any(axis=0))[-1]) + 1
    found: dict[str, Any] = {}
    for k in range(1, most + 1):
        _put(found, f"pass@{k}/{NAME}", _percent([value for part in parts for value in part.best_of(k)]))
        _put(found, f"pass@1[avg-of-{k}]/{NAME}", _percent([value for part in parts for value in part.means(k)]))
    runs = [value for column in rewards.T if (value := _percent(column[~np.isnan(column)].tolist())) is not None]
    found["per_sample_aggregate"] = {NAME: runs}
    for k in range(2, most + 1):
        found |= _across_runs(runs[:k], k)
    for k in range(2, most + 1):
        spreads = [value for part in parts for value in part.spreads(k)]
        _put(found, f"pass@1[avg-of-{k}]/{NAME}/avg_sample_std_dev", _mean(spreads))
    return found


class _Binary:
    """Tasks whose every reward is 0 or 1: counts say all, and equal counts are worked out once."""

    def __init__(self, rewards: Floats) -> None:
        self.counts = np.cumsum(~np.isnan(rewards), axis=1)
        self.ones = np.cumsum(rewards == 1, axis=1)

    def best_of(self, k: int) -> list[float]:
        """The unbiased pass@k of every task with k rewards."""
        enough = self.counts[:, -1] >= k
        total, passed = self.counts[enough, -1], self.ones[enough, -1]
        return _each_pair(total, passed, lambda n, c: _pass_at(n, n - c, k))

    def means(self, k: int) -> list[float]:
        """Of what there is among the first k."""
        some = self.counts[:, k - 1] > 0
        return list((self.ones[some, k - 1] / self.counts[some, k - 1]).tolist())

    def spreads(self, k: int) -> list[float]:
        """Sample standard deviations of what there is among the first k."""
        two = self.counts[:, k - 1] > 1
        return _each_pair(self.counts[two, k - 1], self.ones[two, k - 1], _binary_spread)


class _Partial:
    """Tasks with any other reward."""

    def __init__(self, rewards: Floats) -> None:
        there = ~np.isnan(rewards)
        self.counts: list[list[int]] = np.cumsum(there, axis=1).tolist()
        self.values: list[list[float]] = [row[kept].tolist() for row, kept in zip(rewards, there, strict=True)]

    def best_of(self, k: int) -> list[float]:
        """The best of the first k rewards of every task with k rewards."""
        return [max(values[:k]) for values in self.values if len(values) >= k]

    def means(self, k: int) -> list[float]:
        """Of what there is among the first k."""
        return [math.fsum(first) / len(first) for first in self._first(k, 1)]

    def spreads(self, k: int) -> list[float]:
        """Sample standard deviations of what there is among the first k."""
        return [_spread(first) for first in self._first(k, 2)]

    def _first(self, k: int, least: int) -> list[list[float]]:
        pairs = zip(self.values, self.counts, strict=True)
        return [values[: counts[k - 1]] for values, counts in pairs if counts[k - 1] >= least]


def _each_pair(totals: Integers, passed: Integers, value: Callable[[int, int], float]) -> list[float]:
    """`value(total, passed)` of every task, worked out once for equal pairs."""
    width = int(totals.max(initial=0)) + 1
    codes, where = np.unique(totals * width + passed, return_inverse=True)
    table = np.array([value(code // width, code % width) for code in codes.tolist()], dtype=np.float64)
    return list(table[where].tolist()) if len(table) else []


def _pass_at(total: int, failed: int, k: int) -> float:
    return 1.0 if failed < k else 1.0 - math.comb(failed, k) / math.comb(total, k)


@cache
def _binary_spread(total: int, passed: int) -> float:
    return _spread([1.0] * passed + [0.0] * (total - passed))


def _spread(values: list[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _percent(values: list[float]) -> float | None:
    return 100.0 * math.fsum(values) / len(values) if values else None


def _across_runs(runs: list[float], k: int) -> dict[str, float]:
    if len(runs) < 2:
        return {}
    key, spread = f"pass@1[avg-of-{k}]/{NAME}", _spread(runs)
    return {f"{key}/std_dev_across_runs": spread, f"{key}/std_err_across_runs": spread / math.sqrt(len(runs))}


def _put(found: dict[str, Any], key: str, value: float | None) -> None:
    if value is not None:
        found[key] = value
