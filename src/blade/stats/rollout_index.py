"""The rollouts of a run by number, for the many symptoms that are counted over them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct

from blade.model.run import Run
from blade.stats.headline import Scale, scale, worth

Ref = tuple[str, int]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SINGLE = 2
"""Steps of a rollout that holds no more than a thought and a message."""


class RolloutIndex(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """The rollouts of a run by their rows in its table; every column is in the order of the table."""

    run: Run
    names: pl.Series
    """Ids of tasks: one for each stretch of rows that have the same."""
    lengths: Integers
    """Rows of each stretch."""
    task: Integers
    """The place of each rollout's task in the order of ids."""
    passed: Flags
    failed: Flags

    @cached_property
    def judged(self) -> Flags:
        return self.passed | self.failed

    @cached_property
    def sizes(self) -> Integers:
        """Rollouts of each task."""
        return np.bincount(self.task)

    @cached_property
    def tasks(self) -> pl.Series:
        """Ids of the tasks, in order."""
        stretch = np.zeros(len(self.sizes), np.int64)
        stretch[self.task[np.cumsum(self.lengths) - self.lengths]] = np.arange(len(self.names))
        return self.names.gather(stretch)

    @cached_property
    def scale(self) -> Scale:
        return scale(self.run)

    @cached_property
    def worth(self) -> Floats:
        """What each gives to its task's score."""
        worths = self.run.rollouts.select(worth=worth(self.scale.kind, self.scale.floor))
        return worths["worth"].to_numpy()

    @cached_property
    def judged_per_task(self) -> Integers:
        return self.per_task(self.judged)

    @cached_property
    def judged_worth(self) -> Floats:
        """What the judged rollouts give to their tasks."""
        return self.worth_per_task(self.judged)

    @cached_property
    def fired(self) -> dict[str, Integers]:
        """By rule that fired anywhere: where, in the order of the table."""
        hits = self.run.rollouts.select("fired").with_row_index("row").drop_nulls("fired").explode("fired")
        by_code = hits.unnest("fired").drop_nulls("code").group_by("code").agg(pl.col("row").cast(pl.Int64).unique())
        return {code: np.sort(rows.to_numpy()) for code, rows in zip(*by_code, strict=True)}

    @cached_property
    def repeats_itself(self) -> Flags:
        """Which rollouts have an output that another rollout has too: few, so that the others need not be compared."""
        outputs = self.run.rollouts["output_fp"]
        ordered = np.sort(outputs.drop_nulls().to_numpy())
        again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        return outputs.is_in(pl.Series(again, dtype=outputs.dtype).implode()).fill_null(value=False).to_numpy()

    def at(self, places: Sequence[Ref]) -> Integers:
        """The rows of the places that the run has, in their order."""
        rows = np.flatnonzero(self.of_tasks({task for task, _ in places}))
        table = self.run.rollouts.select("task_id", "repeat")[rows]
        found = dict(zip(table.rows(), rows.tolist(), strict=True))
        return np.array([found[place] for place in places if place in found], np.int64)

    def of_tasks(self, tasks: Collection[str]) -> Flags:
        """Which rollouts are of some tasks."""
        return np.repeat(self.names.is_in(sorted(tasks)).to_numpy(), self.lengths)

    def those(self, *some: Integers) -> Integers:
        """The rows that are among any of some, each once, in the order of the table."""
        return np.flatnonzero(self.marked(*some))

    def marked(self, *some: Integers) -> Flags:
        """Which rollouts are among any of some."""
        found = np.zeros(len(self.task), np.bool_)
        for rows in some:
            found[rows] = True
        return found

    def per_task(self, which: Integers | Flags) -> Integers:
        """How many of some rollouts each task has."""
        return np.bincount(self.task[which], minlength=len(self.sizes))

    def worth_per_task(self, which: Integers | Flags) -> Floats:
        """What some rollouts give to their tasks."""
        return np.bincount(self.task[which], self.worth[which], len(self.sizes)).astype(np.float64)

    def gain_if_fixed(self, which: Integers) -> float:
        """What the score gains where those of some rollouts that did not pass are worth the most that one can be."""
        lost = which[~self.passed[which]]
        gains = self.scale.top * self.per_task(lost) - self.worth_per_task(lost)
        return float(np.mean(gains / self.sizes)) if len(self.sizes) else 0.0


def index_rollouts(run: Run) -> RolloutIndex:
    """The rollouts of a run, ready to be counted; quick where the rows of a task stand together."""
    stretches, outcome = run.rollouts["task_id"].rle().struct, run.rollouts["outcome"]
    names, lengths = stretches.field("value"), stretches.field("len").to_numpy()
    return RolloutIndex(
        run=run,
        names=names,
        lengths=lengths,
        task=np.repeat(names.rank("dense").to_numpy().astype(np.int64) - 1, lengths),
        passed=(outcome == "passed").to_numpy(),
        failed=(outcome == "failed").to_numpy(),
    )
