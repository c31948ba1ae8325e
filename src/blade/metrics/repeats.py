"""What repeats tell: pass@k, pass^k, consistency and the value of a retry, all on the tasks with k judged rollouts."""

from __future__ import annotations

import numpy as np

from blade.core.measure import Measure
from blade.metrics.counts import Counts
from blade.metrics.intervals import bootstrap_interval
from blade.metrics.pass_at_k import pass_at_k, pass_hat_k

ONE_REPEAT = "one repeat"


def usual_repeats(counts: Counts) -> int:
    """The commonest number of expected rollouts, ties to the smaller."""
    values, how_often = np.unique(counts.expected[counts.expected > 0], return_counts=True)
    return int(values[np.argmax(how_often)]) if len(values) else 1


def pass_at(counts: Counts, k: int) -> Measure:
    """Chance that at least one of k rollouts passes."""
    return _measure(f"pass_at_{k}", pass_at_k(counts.judged, counts.passed, k).values, k)


def pass_hat(counts: Counts, k: int) -> Measure:
    """Chance that all of k rollouts pass."""
    return _measure(f"pass_hat_{k}", pass_hat_k(counts.judged, counts.passed, k).values, k)


def consistency(counts: Counts, k: int) -> Measure:
    """Share of tasks whose k rollouts all pass; with more than k, the chance that k drawn ones do."""
    if k == 1:
        return Measure(name="consistency", value=None, n=0, reason=ONE_REPEAT)
    return _measure("consistency", pass_hat_k(counts.judged, counts.passed, k).values, k)


def retry_value(counts: Counts, k: int) -> Measure:
    """What k tries bring over one, on the same tasks."""
    if k == 1:
        return Measure(name="retry_value", value=None, n=0, reason=ONE_REPEAT)
    best = pass_at_k(counts.judged, counts.passed, k)
    once = (counts.passed / np.maximum(counts.judged, 1))[best.counted]
    return _measure("retry_value", best.values - once, k)


def _measure(name: str, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], k: int) -> Measure:
    if len(values) == 0:
        return Measure(name=name, value=None, n=0, reason=f"no task has {k} judged rollouts")
    interval = bootstrap_interval(values)
    return Measure(name=name, value=float(np.mean(values)), n=len(values), interval=interval, method="unbiased, over tasks")
