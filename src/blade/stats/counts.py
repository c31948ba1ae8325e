"""Rollouts of each task, counted once; every other measure starts from these numbers."""

from __future__ import annotations

from collections.abc import Collection
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct
from msgspec.structs import asdict

from blade.model.rollout import PASS_TOLERANCE, Outcome
from blade.model.run import Run

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


class TaskCounts(Struct, frozen=True, kw_only=True):
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

    def without(self, tasks: Collection[str]) -> TaskCounts:
        """The counts of the other tasks."""
        kept = ~pl.Series(self.tasks).is_in(sorted(tasks)).to_numpy()
        groups = self.groups_of(kept)
        return TaskCounts(
            **{name: column[kept] for name, column in asdict(self).items() if isinstance(column, np.ndarray)},
            tasks=tuple(compress(self.tasks, kept)),
            groups=tuple(groups) if groups and any(group != NO_GROUP for group in groups) else None,
        )

    def groups_of(self, kept: npt.NDArray[np.bool_]) -> list[str] | None:
        """The groups of the tasks that are kept; None when the run has none."""
        return list(compress(self.groups, kept)) if self.groups else None


def count(run: Run) -> TaskCounts:
    """Count the rollouts of every task of a run; the rows of a task must stand together."""
    ids, groups = run.rollouts["task_id"], run.tasks["group"]
    firsts = ids.ne_missing(ids.shift(1)).arg_true()
    flags = _flags(run)
    counted: dict[str, npt.NDArray[Any]] = {
        name: np.add.reduceat(flag, firsts.to_numpy(), dtype=np.int64) for name, flag in flags.items()
    }
    rewards, numbers = run.rollouts["reward"].fill_null(0.0).to_numpy(), ids.rle_id().to_numpy()
    for name, flag in (("reward_sum", flags["judged"]), ("recorded_sum", flags["recorded"])):
        counted[name] = np.bincount(numbers, weights=np.where(flag, rewards, 0.0), minlength=len(firsts))
    places = _places(ids.gather(firsts), run.tasks["task_id"])
    return TaskCounts(
        tasks=tuple(run.tasks["task_id"].to_list()),
        **{name: np.append(column, column.dtype.type(0))[places] for name, column in counted.items()},
        groups=tuple(groups.fill_null(NO_GROUP).to_list()) if groups.count() else None,
    )


def _flags(run: Run) -> dict[str, npt.NDArray[np.bool_]]:
    """What is counted of a task: for each rollout, whether it is so."""
    rows = run.rollouts.select("artifact", "reward", "outcome")
    # A harness leaves its failed attempts out of every number, so what it recorded is in the main files alone.
    main = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    recorded = rows["artifact"].is_in(main) & rows["reward"].is_not_null()
    ended = {outcome: rows["outcome"] == str(outcome) for outcome in Outcome}
    failed, missing = ended.pop(Outcome.FAILED), ended[Outcome.MISSING]
    flags = {
        "rows": ~missing,
        "judged": ended[Outcome.PASSED] | failed,
        "recorded": recorded,
        "recorded_passed": recorded & (rows["reward"] >= run.pass_threshold - PASS_TOLERANCE),
        **{str(outcome): flag for outcome, flag in ended.items()},
    }
    return {name: flag.fill_null(False).to_numpy() for name, flag in flags.items()}


def _places(have: pl.Series, wanted: pl.Series) -> npt.NDArray[np.intp]:
    """Where the tasks that are wanted stand among those that a run has; one past the end where it has no row of them."""
    if have.equals(wanted):
        return np.arange(len(have))
    found = wanted.to_frame().join(
        have.to_frame().with_row_index("place"), on="task_id", how="left", maintain_order="left"
    )
    return found["place"].fill_null(len(have)).to_numpy().astype(np.intp)
