"""Tasks by how often they pass; with partial credit, by how high their mean reward is."""

from __future__ import annotations

import numpy as np
import polars as pl

from blade.model.run import Run
from blade.stats.counts import Counts, Integers
from blade.stats.headline import rewards_of

CLOSE = 1e-9
"""Two thirds reached by two roads differ in their last bit."""
BY_PASSES = ("always_pass", "sometimes_pass", "never_pass", "missing")
BY_REWARD = ("high", "mixed", "low", "missing")
_BEST, _BETWEEN, _WORST, _MISSING = range(4)


def buckets(run: Run, counts: Counts, kind: str) -> Integers:
    """The place of each task's bucket among the `bucket_names`, in the order of `counts`."""
    if kind == "pass_at_1":
        best, worst = counts.passed == counts.judged, counts.passed == 0
    else:
        low, high = thirds(rewards_of(run))
        means = counts.reward_sum / np.maximum(counts.judged, 1)
        best, worst = means >= high - CLOSE, means <= low + CLOSE
    return np.select([counts.judged == 0, best, worst], [_MISSING, _BEST, _WORST], _BETWEEN)


def bucket_names(kind: str) -> tuple[str, ...]:
    """The buckets that a kind of headline has, in order."""
    return BY_PASSES if kind == "pass_at_1" else BY_REWARD


def thirds(rewards: pl.Series) -> tuple[float, float]:
    """The ends of the lower and the upper third of the rewards seen."""
    low, high = float(rewards.min() or 0.0), float(rewards.max() or 0.0)  # type: ignore[arg-type]
    return low + (high - low) / 3, high - (high - low) / 3
