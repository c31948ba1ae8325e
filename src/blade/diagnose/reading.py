"""The few rollouts whose text is needed, chosen by rule and read in one sweep."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import polars as pl
from msgspec import Struct

from blade.core.diagnosis import Partition
from blade.core.errors import ArtifactError
from blade.core.run import Run
from blade.diagnose.walks import Walk
from blade.metrics.counts import task_numbers

Place = tuple[str, int]

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

    walks: Mapping[Place, Walk]
    sometimes: tuple[str, ...]
    never: tuple[str, ...]
    cut: tuple[str, ...]

    @cached_property
    def _by_task(self) -> dict[str, list[Walk]]:
        found: dict[str, list[Walk]] = {}
        for (task, _), walk in self.walks.items():
            found.setdefault(task, []).append(walk)
        return found

    @property
    def tasks(self) -> Collection[str]:
        """Tasks of which a rollout was read."""
        return self._by_task.keys()

    def of(self, task_id: str) -> list[Walk]:
        """The rollouts of a task that were read, in order of repeat."""
        return self._by_task.get(task_id, [])

    @cached_property
    def _places(self) -> pl.DataFrame:
        return pl.DataFrame(list(self.walks), schema={"task_id": pl.String, "repeat": pl.Int32}, orient="row")

    def those_read(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows, in their order, whose rollouts were read."""
        return rows.join(self._places, on=["task_id", "repeat"], how="semi", maintain_order="left")

    def at(self, places: Sequence[Place]) -> list[Walk]:
        """Those of the places that were read."""
        return [self.walks[place] for place in places if place in self.walks]


def read(run: Run, partition: Partition) -> Reading:
    """Read sometimes-pass tasks, then never-pass tasks, up to a number of each, and some rollouts of every mode."""
    rows = run.rollouts.select("task_id", "repeat", "outcome", "artifact")
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"]) & pl.col("artifact").is_not_null())
    sometimes, never = _failing_tasks(judged)
    chosen = _of_tasks(judged, sometimes[:MOST_CONTRASTED]) + _of_tasks(judged, never[:MOST_NEVER])
    chosen += _of_modes(partition) + _that_pass(judged)
    places = _in_order(judged, chosen)
    if run.read is None:
        return Reading(
            walks={}, sometimes=(), never=(), cut=("nothing was read again: the artifacts are out of reach",)
        )
    try:
        found = run.read(run, places) if places else []
    except ArtifactError as gone:
        return Reading(walks={}, sometimes=(), never=(), cut=(f"nothing was read again: {gone.message}",))
    walks = {
        place: Walk(rollout=rollout, set_aside=partition.set_aside)
        for place, rollout in zip(places, found, strict=True)
    }
    return Reading(
        walks=walks,
        sometimes=tuple(sometimes[:MOST_CONTRASTED]),
        never=tuple(never[:MOST_NEVER]),
        cut=tuple(_cuts(len(sometimes), len(never))),
    )


def _failing_tasks(judged: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Tasks with both outcomes and tasks that only failed, in the order of the table."""
    passed = pl.col("outcome") == "passed"
    rows = judged.select("task_id", task_numbers(judged), passed.alias("passed"))
    tasks = rows.group_by("task", maintain_order=True).agg(
        pl.col("task_id").first(), some=pl.col("passed").any(), every=pl.col("passed").all()
    )
    failing = tasks.filter(~pl.col("every"))
    sometimes, never = failing.filter("some"), failing.filter(~pl.col("some"))
    return sometimes["task_id"].to_list(), never["task_id"].to_list()


def _of_tasks(judged: pl.DataFrame, tasks: Sequence[str]) -> list[Place]:
    near = judged.filter(pl.col("task_id").is_in(list(tasks)))
    kept = near.group_by("task_id", "outcome", maintain_order=True).head(MOST_EACH)
    return list(kept.select("task_id", "repeat").iter_rows())


def _in_order(judged: pl.DataFrame, chosen: Sequence[Place]) -> list[Place]:
    """The places, each once, in the order of the table."""
    wanted = pl.DataFrame(list(dict.fromkeys(chosen)), schema={"task_id": pl.String, "repeat": pl.Int32}, orient="row")
    kept = judged.select("task_id", "repeat").join(wanted, on=["task_id", "repeat"], how="semi", maintain_order="left")
    return list(kept.iter_rows())


def _that_pass(judged: pl.DataFrame) -> list[Place]:
    """Some passes, one a task, for what they share."""
    passed = judged.filter(pl.col("outcome") == "passed")
    passed = passed.filter(pl.col("task_id").rle_id().is_first_distinct())
    return list(passed.select("task_id", "repeat").head(MOST_PASSING).iter_rows())


def _of_modes(partition: Partition) -> list[Place]:
    kept = partition.table.group_by("mode", maintain_order=True).head(MOST_OF_A_MODE)
    return list(kept.select("task_id", "repeat").iter_rows())


def _cuts(sometimes: int, never: int) -> list[str]:
    said = []
    if sometimes > MOST_CONTRASTED:
        said.append(f"of {sometimes:,} sometimes-pass tasks the first {MOST_CONTRASTED} were read")
    if never > MOST_NEVER:
        said.append(f"of {never:,} never-pass tasks the first {MOST_NEVER} were read")
    return said
