"""What a rollout gives to the score of its task: a pass or nothing, or its reward where mean reward leads."""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from blade.model.rollout import PASS_TOLERANCE
from blade.model.run import Run
from blade.stats.counts import JUDGED, PASSED
from blade.stats.headline import headline, rewards_of


class Scale(Struct, frozen=True, kw_only=True):
    """What rollouts of a run are worth at least and at most."""

    kind: str
    """The headline: `pass_at_1` or `mean_reward`."""
    floor: float = 0.0
    """A rollout without a verdict."""
    top: float = 1.0
    """A rollout in which nothing is left to mend."""
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
