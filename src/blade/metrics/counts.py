"""Rollouts of each task, counted once; every other measure starts from these numbers."""

from __future__ import annotations

from collections.abc import Collection
from itertools import compress

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct
from msgspec.structs import asdict

from blade.core.rollout import PASS_TOLERANCE, Outcome
from blade.core.run import Run

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NO_GROUP = "(none)"
COUNTED = ("task_id", "outcome", "reward", "artifact")
"""The columns of the rollouts that `count` reads."""
JUDGED = pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)])
PASSED = pl.col("outcome") == str(Outcome.PASSED)
PRESENT = pl.col("outcome") != str(Outcome.MISSING)


def task_numbers(rows: pl.DataFrame) -> pl.Series:
    """`task`: a number for each task, which are grouped faster than names; the rows of a task must stand together."""
    # Adding nothing takes off the mark that they are sorted: polars groups numbers that have it three times as slowly.
    return (rows["task_id"].rle_id() | 0).alias("task")


def fired(codes: Collection[str]) -> pl.Expr:
    """Whether any of the rules fired on a rollout."""
    return pl.col("fired").list.eval(pl.element().struct.field("code").is_in(sorted(codes))).list.any().fill_null(False)


class Counts(Struct, frozen=True, kw_only=True):
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

    def without(self, tasks: Collection[str]) -> Counts:
        """The counts of the other tasks."""
        kept = ~pl.Series(self.tasks).is_in(sorted(tasks)).to_numpy()
        groups = self.groups_of(kept)
        return Counts(
            **{name: column[kept] for name, column in asdict(self).items() if isinstance(column, np.ndarray)},
            tasks=tuple(compress(self.tasks, kept)),
            groups=tuple(groups) if groups and any(group != NO_GROUP for group in groups) else None,
        )

    def groups_of(self, kept: npt.NDArray[np.bool_]) -> list[str] | None:
        """The groups of the tasks that are kept; None when the run has none."""
        return list(compress(self.groups, kept)) if self.groups else None


def count(run: Run) -> Counts:
    """Count the rollouts of every task of a run."""

    # A harness leaves its failed attempts out of every number, so what it recorded is in the main files alone.
    main = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    finite = pl.col("artifact").is_in(main) & pl.col("reward").is_not_null()
    ended = (Outcome.PASSED, Outcome.ERRORED, Outcome.UNSCORED, Outcome.MISSING)
    marked = run.rollouts.select(
        "task_id",
        task_numbers(run.rollouts),
        *((pl.col("outcome") == str(outcome)).alias(str(outcome)) for outcome in ended),
        rows=PRESENT,
        judged=JUDGED,
        reward_sum=pl.when(JUDGED).then("reward"),
        recorded=finite,
        recorded_sum=pl.when(finite).then("reward"),
        recorded_passed=finite & (pl.col("reward") >= run.pass_threshold - PASS_TOLERANCE),
    )
    table = marked.group_by("task").agg(pl.col("task_id").first(), pl.exclude("task_id", "task").sum())
    table = run.tasks.select("task_id", "group").join(table, on="task_id", how="left", maintain_order="left")
    whole = ("rows", "judged", "passed", "errored", "unscored", "missing", "recorded", "recorded_passed")
    sums = ("reward_sum", "recorded_sum")
    table = table.with_columns(
        pl.col(whole).fill_null(0).cast(pl.Int64), pl.col(sums).fill_null(0.0), pl.col("group").fill_null(NO_GROUP)
    )
    return Counts(
        tasks=tuple(table["task_id"].to_list()),
        **{name: table[name].to_numpy() for name in (*whole, *sums)},
        groups=tuple(table["group"].to_list()) if run.tasks["group"].count() else None,
    )
