"""Rollouts of a run that something is said of: known by their rows, and named by task and repeat where somebody reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from msgspec import Struct

from blade.stats.rollout_index import Flags, Integers, Ref, RolloutIndex

MOST_REFS = 200
"""Places kept of one finding or intervention; the count is of all."""


class Refs(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """Some rollouts, in an order. A run may have hundreds of thousands: names are made where they are asked for."""

    of: RolloutIndex
    rows: Integers

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Ref]:
        return iter(self._table().rows())

    def _table(self, most: int | None = None) -> pl.DataFrame:
        return self.of.run.rollouts.select("task_id", "repeat")[self.rows[:most]]

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Ids of their tasks, each once, in the order of the first rollout."""
        numbers = self.of.task[self.rows]
        first = np.flatnonzero(np.diff(numbers, prepend=-1))
        told = first[pl.Series(numbers[first]).is_first_distinct().to_numpy()]
        return tuple(self.of.run.rollouts["task_id"][self.rows[told]].to_list())

    @property
    def in_words(self) -> str:
        """`23 rollouts in 10 tasks`."""
        return _counted(len(self), len(self.tasks))

    def named(self, most: int | None = None) -> tuple[str, ...]:
        """`task#repeat` of each, or of the first."""
        names = self._table(most).select(pl.format("{}#{}", "task_id", "repeat"))
        return tuple(names.to_series().to_list())

    def only(self, which: Flags) -> Refs:
        """Those that are marked, of all rollouts of the run."""
        kept = which[self.rows]
        return self if kept.all() else Refs(of=self.of, rows=self.rows[kept])

    def less(self, which: Flags) -> Refs:
        """Those that are not marked."""
        return self.only(~which)

    def within(self, tasks: Collection[str]) -> Refs:
        """Those of some tasks."""
        return self.only(self.of.of_tasks(tasks))


def marked(of: RolloutIndex, which: Flags) -> Refs:
    """The rollouts that are marked, in the order of the table."""
    return Refs(of=of, rows=np.flatnonzero(which))


def none(of: RolloutIndex) -> Refs:
    """No rollout."""
    return Refs(of=of, rows=np.zeros(0, np.int64))


def at(of: RolloutIndex, places: Sequence[Ref]) -> Refs:
    """The rollouts at some places; those that the run has."""
    return Refs(of=of, rows=of.at(places))


def spread(places: Sequence[Ref]) -> str:
    """`23 rollouts in 10 tasks`, of a few that were named."""
    return _counted(len(places), len({task for task, _ in places}))


def _counted(rollouts: int, tasks: int) -> str:
    return f"{rollouts:,} rollout{'' if rollouts == 1 else 's'} in {tasks:,} task{'' if tasks == 1 else 's'}"
