"""Tasks by how often they pass; with partial credit, by how high their mean reward is."""

from __future__ import annotations

import numpy as np
import polars as pl

from blade.core.run import Run
from blade.metrics.counts import Counts
from blade.metrics.headline import rewards_of

CLOSE = 1e-9
"""Two thirds reached by two roads differ in their last bit."""
BY_PASSES = ("always_pass", "sometimes_pass", "never_pass", "missing")
BY_REWARD = ("high", "mixed", "low", "missing")


def buckets(run: Run, counts: Counts, kind: str) -> list[str]:
    """The bucket of each task, in the order of `counts`."""
    if kind == "pass_at_1":
        return list(map(_by_passes, counts.passed.tolist(), counts.judged.tolist()))
    low, high = thirds(rewards_of(run))
    means = counts.reward_sum / np.maximum(counts.judged, 1)
    return [_by_reward(float(m), int(j), low, high) for m, j in zip(means, counts.judged, strict=True)]


def bucket_names(kind: str) -> tuple[str, ...]:
    """The buckets that a kind of headline has, in order."""
    return BY_PASSES if kind == "pass_at_1" else BY_REWARD


def _by_passes(passed: int, judged: int) -> str:
    if judged == 0:
        return "missing"
    if passed == judged:
        return "always_pass"
    return "never_pass" if passed == 0 else "sometimes_pass"


def thirds(rewards: pl.Series) -> tuple[float, float]:
    """The ends of the lower and the upper third of the rewards seen."""
    low, high = float(rewards.min() or 0.0), float(rewards.max() or 0.0)  # type: ignore[arg-type]
    return low + (high - low) / 3, high - (high - low) / 3


def _by_reward(mean: float, judged: int, low: float, high: float) -> str:
    if judged == 0:
        return "missing"
    return "high" if mean >= high - CLOSE else "low" if mean <= low + CLOSE else "mixed"
