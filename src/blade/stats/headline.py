"""Which number leads: pass@1 where rewards say pass or fail, mean reward where they give partial credit.

What a rollout gives to the score of its task follows from it, and so does the bucket of a task.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from msgspec import Struct

from blade.model.rollout import PASS_TOLERANCE
from blade.model.run import Run
from blade.stats.counts import JUDGED, PASSED, PRESENT, Integers, TaskCounts

MOSTLY = 0.9
_CLOSE = 1e-9
BY_PASSES = ("always_pass", "sometimes_pass", "never_pass", "missing")
BY_REWARD = ("high", "mixed", "low", "missing")
_BEST, _BETWEEN, _WORST, _MISSING = range(4)


def rewards_of(run: Run) -> pl.Series:
    """Every finite reward as recorded."""
    return run.rollouts.select("outcome", "reward").filter(PRESENT)["reward"].drop_nulls()


def headline(run: Run) -> tuple[str, str]:
    """`pass_at_1` or `mean_reward`, and the reason in a sentence."""
    rewards = rewards_of(run)
    if rewards.is_empty():
        return "pass_at_1", "no rollout has a reward"
    top = float(rewards.max() or 0.0)  # type: ignore[arg-type]
    plain = int((rewards.is_in([0.0, -1.0]) | ((rewards - top).abs() <= _CLOSE)).sum())
    if plain >= MOSTLY * len(rewards):
        return "pass_at_1", f"{plain} of {len(rewards)} rewards are 0, -1 or the maximum"
    return "mean_reward", f"only {plain} of {len(rewards)} rewards are 0, -1 or the maximum: partial credit"


def doubts(run: Run) -> tuple[str, ...]:
    """Why a pass may not mean what the benchmark means."""
    rewards = rewards_of(run)
    if rewards.is_empty():
        return ()
    low, top = float(rewards.min() or 0.0), float(rewards.max() or 0.0)  # type: ignore[arg-type]
    threshold = run.pass_threshold
    if top > 1 + _CLOSE and threshold == 1.0:
        return (
            f"rewards go up to {top:g}, so a pass (reward of at least 1) may not mean what the benchmark means; set --pass-threshold",
        )
    if top < threshold - _CLOSE and (top > 0 or top > low):
        return (
            f"no reward reaches {threshold:g} (the highest is {top:g}), so nothing counts as a pass; set --pass-threshold",
        )
    return ()


class Scale(Struct, frozen=True, kw_only=True):
    """What rollouts of a run are worth at least and at most."""

    kind: str
    """The headline: `pass_at_1` or `mean_reward`."""
    floor: float = 0.0
    """A rollout without a verdict."""
    top: float = 1.0
    """A rollout in which nothing is left to fix."""
    in_points: bool = True
    """The score lies between 0 and 1, so that a hundredth of it is a point; else gains are in the reward's own units."""


def worth(kind: str, floor: float) -> pl.Expr:
    """A rollout's part in its task's score; `floor` is that of one without a verdict, where rewards are averaged."""
    if kind == "mean_reward":
        return pl.when(JUDGED).then(pl.col("reward")).otherwise(floor)
    return PASSED.cast(pl.Float64)


def lowest(run: Run) -> float:
    """What a rollout without a verdict is worth where rewards are averaged: 0, or the lowest reward if it is negative."""
    low = run.rollouts["reward"].min()
    return min(0.0, float(low)) if isinstance(low, int | float) else 0.0


def scale(run: Run) -> Scale:
    """How rollouts of the run are valued; rewards between 0 and 1 are taken to reach 1, others the highest seen."""
    kind, _ = headline(run)
    if kind == "pass_at_1":
        return Scale(kind=kind)
    top, low = float(rewards_of(run).max() or 0.0), lowest(run)  # type: ignore[arg-type]
    within = low >= 0 and top <= 1 + PASS_TOLERANCE
    return Scale(kind=kind, floor=low, top=max(1.0, top) if within else top, in_points=within)


def buckets(run: Run, counts: TaskCounts, kind: str) -> Integers:
    """The place of each task's bucket among the `bucket_names`, in the order of `counts`."""
    if kind == "pass_at_1":
        best, worst = counts.passed == counts.judged, counts.passed == 0
    else:
        low, high = thirds(rewards_of(run))
        means = counts.reward_sum / np.maximum(counts.judged, 1)
        best, worst = means >= high - _CLOSE, means <= low + _CLOSE
    return np.select([counts.judged == 0, best, worst], [_MISSING, _BEST, _WORST], _BETWEEN)


def bucket_names(kind: str) -> tuple[str, ...]:
    """The buckets that a kind of headline has, in order."""
    return BY_PASSES if kind == "pass_at_1" else BY_REWARD


def thirds(rewards: pl.Series) -> tuple[float, float]:
    """The ends of the lower and the upper third of the rewards seen."""
    low, high = float(rewards.min() or 0.0), float(rewards.max() or 0.0)  # type: ignore[arg-type]
    return low + (high - low) / 3, high - (high - low) / 3
