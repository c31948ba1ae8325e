"""The pass@k family as NeMo Gym gives it for `accuracy` = reward: percent, first-come repeats, its own habits.

Kept because dashboards hold these numbers, not because they are right: tasks with fewer than k rollouts drop out of
pass@k, and a task with partial credit counts as the best of its first k. `honest.py` has ours.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from blade.gym.stats import Floats

NAME = "accuracy"


def family(rewards: Floats) -> dict[str, Any]:
    """Every key of the family; `rewards` is task x repeat in order of repeat, NaN where there is none."""
    tasks = [_Task(row) for row in rewards if len(row)]
    most = max((task.length for task in tasks), default=0)
    if not any(task.values for task in tasks):
        return {}
    found: dict[str, Any] = {}
    for k in range(1, most + 1):
        _put(found, f"pass@{k}/{NAME}", _percent([task.best_of(k) for task in tasks if len(task.values) >= k]))
        _put(found, f"pass@1[avg-of-{k}]/{NAME}", _percent([task.mean(k) for task in tasks if task.counts[k - 1]]))
    runs = _each_repeat(rewards)
    found["per_sample_aggregate"] = {NAME: runs}
    for k in range(2, most + 1):
        found |= _across_runs(runs[:k], k)
    for k in range(2, most + 1):
        spreads = [task.spread(k) for task in tasks if task.counts[k - 1] >= 2]
        _put(found, f"pass@1[avg-of-{k}]/{NAME}/avg_sample_std_dev", math.fsum(spreads) / len(spreads) if spreads else None)
    return found


class _Task:
    """The rewards of one task."""

    def __init__(self, row: Floats) -> None:
        there = ~np.isnan(row)
        self.values: list[float] = row[there].tolist()
        places = np.flatnonzero(there)
        self.length = int(places[-1]) + 1 if len(places) else 0
        self.counts: list[int] = np.cumsum(there).tolist()
        self.binary = all(value in (0.0, 1.0) for value in self.values)

    def best_of(self, k: int) -> float:
        """pass@k of a task of passes and failures; the best of the first k otherwise."""
        if self.binary:
            return _pass_at(len(self.values), self.values.count(0.0), k)
        return max(self.values[:k])

    def mean(self, k: int) -> float:
        """Over what there is among the first k."""
        first = self.values[: self.counts[k - 1]]
        return math.fsum(first) / len(first)

    def spread(self, k: int) -> float:
        """Sample standard deviation of what there is among the first k."""
        first = self.values[: self.counts[k - 1]]
        return _binary_spread(len(first), first.count(1.0)) if self.binary else _spread(first)


@cache
def _pass_at(total: int, failed: int, k: int) -> float:
    return 1.0 if failed < k else 1.0 - math.comb(failed, k) / math.comb(total, k)


@cache
def _binary_spread(total: int, passed: int) -> float:
    return _spread([1.0] * passed + [0.0] * (total - passed))


def _spread(values: list[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _percent(values: list[float]) -> float | None:
    return 100.0 * math.fsum(values) / len(values) if values else None


def _each_repeat(rewards: Floats) -> list[float]:
    """The mean over tasks of each repeat that any task has."""
    columns: list[npt.NDArray[np.float64]] = [column[~np.isnan(column)] for column in rewards.T]
    return [value for column in columns if (value := _percent(column.tolist())) is not None]


def _across_runs(runs: list[float], k: int) -> dict[str, float]:
    if len(runs) < 2:
        return {}
    key, spread = f"pass@1[avg-of-{k}]/{NAME}", _spread(runs)
    return {f"{key}/std_dev_across_runs": spread, f"{key}/std_err_across_runs": spread / math.sqrt(len(runs))}


def _put(found: dict[str, Any], key: str, value: float | None) -> None:
    if value is not None:
        found[key] = value
