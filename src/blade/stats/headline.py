"""Which number leads: pass@1 where rewards say pass or fail, mean reward where they give partial credit."""

from __future__ import annotations

import polars as pl

from blade.model.run import Run
from blade.stats.counts import PRESENT

MOSTLY = 0.9
_CLOSE = 1e-9


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
