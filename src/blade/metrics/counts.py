"""Rollouts of each task, counted once; every other measure starts from these numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from blade.core.rollout import PASS_TOLERANCE, Outcome
from blade.core.run import Run

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

COUNTED = ("task_id", "outcome", "reward", "artifact")
"""The columns of the rollouts that `count` reads."""
JUDGED = pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)])
PASSED = pl.col("outcome") == str(Outcome.PASSED)
PRESENT = pl.col("outcome") != str(Outcome.MISSING)


def fired(codes: Collection[str]) -> pl.Expr:
    """Whether any of the rules fired on a rollout."""
    return pl.col("fired").list.eval(pl.element().struct.field("code").is_in(sorted(codes))).list.any().fill_null(False)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """One entry a task, in the order of the run's task table."""

    tasks: tuple[str, ...]
    rows: Integers
    """Usable rows."""
    judged: Integers
    passed: Integers
    errored: Integers
    unscored: Integers
    missing: Integers
    reward_sum: Floats
    """Sum of the rewards of judged rollouts."""
    recorded: Integers
    """Rows of the main files with a finite reward, judged or not."""
    recorded_sum: Floats
    recorded_passed: Integers
    groups: tuple[str, ...] | None

    @property
    def expected(self) -> Integers:
        """Rows and missing rollouts: what the task should have, or has where nobody says."""
        return self.rows + self.missing

    @property
    def failed(self) -> Integers:
        return self.judged - self.passed

    def groups_of(self, kept: npt.NDArray[np.bool_]) -> list[str] | None:
        """The groups of the tasks that are kept; None when the run has none."""
        return [group for group, keep in zip(self.groups, kept, strict=True) if keep] if self.groups else None


def count(run: Run) -> Counts:
    """Count the rollouts of every task of a run."""

    def outcome(which: Outcome) -> pl.Expr:
        return (pl.col("outcome") == str(which)).sum()

    # A harness leaves its failed attempts out of every number, so what it recorded is in the main files alone.
    main = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    finite = pl.col("artifact").is_in(main) & pl.col("reward").is_not_null()
    table = run.rollouts.group_by("task_id").agg(
        PRESENT.sum().alias("rows"),
        JUDGED.sum().alias("judged"),
        outcome(Outcome.PASSED).alias("passed"),
        outcome(Outcome.ERRORED).alias("errored"),
        outcome(Outcome.UNSCORED).alias("unscored"),
        outcome(Outcome.MISSING).alias("missing"),
        pl.col("reward").filter(JUDGED).sum().alias("reward_sum"),
        finite.sum().alias("recorded"),
        pl.col("reward").filter(finite).sum().alias("recorded_sum"),
        (finite & (pl.col("reward") >= run.pass_threshold - PASS_TOLERANCE)).sum().alias("recorded_passed"),
    )
    table = run.tasks.select("task_id", "group").join(table, on="task_id", how="left", maintain_order="left")
    whole = ("rows", "judged", "passed", "errored", "unscored", "missing", "recorded", "recorded_passed")
    return Counts(
        tasks=tuple(table["task_id"]),
        **{name: table[name].fill_null(0).cast(pl.Int64).to_numpy() for name in whole},
        reward_sum=table["reward_sum"].fill_null(0.0).to_numpy(),
        recorded_sum=table["recorded_sum"].fill_null(0.0).to_numpy(),
        groups=tuple(table["group"].fill_null("(none)")) if table["group"].count() else None,
    )
