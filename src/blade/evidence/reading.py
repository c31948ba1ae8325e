"""The few rollouts whose text is needed, chosen by rule and read in one sweep."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from msgspec import Struct

from blade.evidence.alignment import AlignedTrajectory
from blade.model.diagnosis import Partition
from blade.model.errors import ArtifactError
from blade.stats.rollout_index import Flags, Integers, Ref, RolloutIndex

MOST_CONTRASTED = 80
"""Sometimes-pass tasks that are read."""
MOST_NEVER = 40
"""Never-pass tasks that are read."""
MOST_EACH = 4
"""Passing, and failing, rollouts read of one task."""
MOST_PASSING = 40
"""Tasks of which one passing rollout is read."""
MOST_OF_A_MODE = 6
"""Rollouts of a mode that are read whatever their task."""


class Reading(Struct, frozen=True, kw_only=True, dict=True):
    """Rollouts that were read again, and by which rule others were not."""

    walks: Mapping[Ref, AlignedTrajectory]
    rows: Integers
    """Where the rollouts stand in the table of the run, in the order of the walks."""
    sometimes: tuple[str, ...]
    never: tuple[str, ...]
    cut: tuple[str, ...]

    @cached_property
    def _by_task(self) -> dict[str, list[AlignedTrajectory]]:
        found: dict[str, list[AlignedTrajectory]] = {}
        for (task, _), walk in self.walks.items():
            found.setdefault(task, []).append(walk)
        return found

    @property
    def tasks(self) -> Collection[str]:
        """Tasks of which a rollout was read."""
        return self._by_task.keys()

    def of(self, task_id: str) -> list[AlignedTrajectory]:
        """The rollouts of a task that were read, in order of repeat."""
        return self._by_task.get(task_id, [])

    def at(self, places: Sequence[Ref]) -> list[AlignedTrajectory]:
        """Those of the places that were read."""
        return [self.walks[place] for place in places if place in self.walks]


def read(rollouts: RolloutIndex, partition: Partition) -> Reading:
    """Read sometimes-pass tasks, then never-pass tasks, up to a number of each, and some rollouts of every mode."""
    run, there = rollouts.run, rollouts.run.rollouts["artifact"].is_not_null().to_numpy()
    judged = rollouts.judged & there
    sometimes, never = _failing_tasks(rollouts, judged)
    sometimes_first, lost = sometimes.head(MOST_CONTRASTED).to_list(), never.head(MOST_NEVER).to_list()
    chosen = _of_tasks(rollouts, judged, [*sometimes_first, *lost])
    chosen[_of_modes(rollouts, partition)] = chosen[_that_pass(rollouts, judged)] = True
    rows = np.flatnonzero(chosen & judged)
    places = run.rollouts.select("task_id", "repeat")[rows].rows()
    if run.read is None:
        return _nothing("the artifacts are out of reach")
    try:
        found = run.read(run, places) if places else []
    except ArtifactError as gone:
        return _nothing(gone.message)
    walks = {
        place: AlignedTrajectory(rollout=rollout, set_aside=partition.set_aside)
        for place, rollout in zip(places, found, strict=True)
    }
    return Reading(
        walks=walks,
        rows=rows,
        sometimes=tuple(sometimes_first),
        never=tuple(lost),
        cut=tuple(_cuts(len(sometimes), len(never))),
    )


def _nothing(why: str) -> Reading:
    return Reading(
        walks={}, rows=np.zeros(0, np.int64), sometimes=(), never=(), cut=(f"nothing was read again: {why}",)
    )


def _failing_tasks(rollouts: RolloutIndex, judged: Flags) -> tuple[pl.Series, pl.Series]:
    """Tasks with both outcomes and tasks that only failed, in the order of the table."""
    passes, sizes = rollouts.per_task(judged & rollouts.passed), rollouts.per_task(judged)
    some, failing = passes > 0, passes < sizes
    number = rollouts.task[np.cumsum(rollouts.lengths) - rollouts.lengths]
    return rollouts.names.filter(pl.Series((failing & some)[number])), rollouts.names.filter(
        pl.Series((failing & ~some)[number])
    )


def _of_tasks(rollouts: RolloutIndex, judged: Flags, tasks: Sequence[str]) -> Flags:
    """The first passes, and the first failures, of each of the tasks."""
    mine = judged & rollouts.of_tasks(tasks)
    first = [_first_of_each(rollouts.task, np.flatnonzero(mine & one)) for one in (rollouts.passed, rollouts.failed)]
    return rollouts.marked(*first)


def _first_of_each(task: Integers, rows: Integers) -> Integers:
    numbers = pl.DataFrame({"row": rows, "task": task[rows]})
    return numbers.group_by("task", maintain_order=True).head(MOST_EACH)["row"].to_numpy()


def _that_pass(rollouts: RolloutIndex, judged: Flags) -> Integers:
    """Some passes, one a task, for what they share."""
    passed = np.flatnonzero(judged & rollouts.passed)
    first = np.flatnonzero(np.diff(rollouts.task[passed], prepend=-1))
    return passed[first[:MOST_PASSING]]


def _of_modes(rollouts: RolloutIndex, partition: Partition) -> Integers:
    table = partition.table.select("mode", row=pl.Series(np.flatnonzero(rollouts.failed)))
    return table.group_by("mode", maintain_order=True).head(MOST_OF_A_MODE)["row"].to_numpy()


def _cuts(sometimes: int, never: int) -> list[str]:
    said = []
    if sometimes > MOST_CONTRASTED:
        said.append(f"of {sometimes:,} sometimes-pass tasks the first {MOST_CONTRASTED} were read")
    if never > MOST_NEVER:
        said.append(f"of {never:,} never-pass tasks the first {MOST_NEVER} were read")
    return said
