"""What run rules and findings are made from: rollouts of a run by their rows, those that were read again, and the rest.

Also the words of a finding before its numbers are known, and runs whose keys stand beside their rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from msgspec import Struct, field
from msgspec.structs import replace

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.differences import differences
from blade.evidence.simulated_user import Withheld
from blade.ingest.row_table import differences as differences_column
from blade.ingest.row_table import signs as signs_column
from blade.model.diagnosis import Contrast, Elsewhere, Partition, Support
from blade.model.errors import ArtifactError
from blade.model.finding import Difference, Evidence, Sign
from blade.model.run import Run
from blade.stats.infrastructure import NOT_AGENTS
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
MOST_MODES = 300
"""Modes of which some are read: where each test of each task is a mode of its own, those with the most rollouts. A report
names far fewer, and reading takes time and memory for each."""


class RereadRollouts(Struct, frozen=True, kw_only=True, dict=True):
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


def read(rollouts: RolloutIndex, partition: Partition) -> RereadRollouts:
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
    return RereadRollouts(
        walks=walks,
        rows=rows,
        sometimes=tuple(sometimes_first),
        never=tuple(lost),
        cut=tuple(_cuts(len(sometimes), len(never))),
    )


def _nothing(why: str) -> RereadRollouts:
    return RereadRollouts(
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
    table = partition.table.select("mode", row=pl.Series(np.flatnonzero(~rollouts.passed)))
    modes = table.group_by("mode", maintain_order=True).len()
    if modes.height > MOST_MODES:
        common = modes.sort("len", descending=True, maintain_order=True).head(MOST_MODES)["mode"]
        table = table.filter(pl.col("mode").is_in(common.implode()))
    return table.group_by("mode", maintain_order=True).head(MOST_OF_A_MODE)["row"].to_numpy()


def _cuts(sometimes: int, never: int) -> list[str]:
    said = []
    if sometimes > MOST_CONTRASTED:
        said.append(f"of {sometimes:,} sometimes-pass tasks the first {MOST_CONTRASTED} were read")
    if never > MOST_NEVER:
        said.append(f"of {never:,} never-pass tasks the first {MOST_NEVER} were read")
    return said


QuotedSentence = tuple[str, tuple[Evidence, ...]]
"""A sentence, and the evidence that it quotes."""


class RunContext(Struct, frozen=True, kw_only=True, dict=True):
    """Everything that findings are made from."""

    rollouts: RolloutIndex
    """The rollouts of the run, to be counted over."""
    partition: Partition
    reading: RereadRollouts
    contrasts: Mapping[str, Contrast]
    withheld: Sequence[Withheld]
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    unlike: Mapping[str, str] = field(default_factory=dict)
    """Tasks whose repeats were not given the same thing, and how they differ."""
    defects: frozenset[str] = frozenset()
    """Tasks with a defect of the benchmark, proven or likely: nothing is to be learned from their failures."""

    @property
    def run(self) -> Run:
        return self.rollouts.run

    @cached_property
    def usual_pass_rate(self) -> float | None:
        """Passes over judged rollouts without failures that are not the agent's; None where rewards are averaged."""
        own = ~self.partition.attributions.table.select(NOT_AGENTS).to_series().to_numpy() & self.rollouts.judged
        if self.rollouts.scale.kind != "pass_at_1" or not own.any():
            return None
        return float(self.rollouts.passed[own].mean())

    @cached_property
    def was_read(self) -> Flags:
        """Which rollouts of the run were read."""
        return self.rollouts.marked(self.reading.rows)

    @cached_property
    def _walks(self) -> dict[int, AlignedTrajectory]:
        return dict(zip(self.reading.rows.tolist(), self.reading.walks.values(), strict=True))

    def in_mode(self, *modes: str) -> Refs:
        """The rollouts that did not pass and have one of the modes."""
        failures = np.flatnonzero(~self.rollouts.passed)
        return Refs(of=self.rollouts, rows=failures[self.partition.table["mode"].is_in(modes).to_numpy()])

    def read(self, places: Refs) -> list[AlignedTrajectory]:
        """Those of the places that were read, in their order."""
        return [self._walks[row] for row in places.only(self.was_read).rows.tolist()]

    def passing_repeats(self, places: Refs) -> list[AlignedTrajectory]:
        """Rollouts of the same tasks that were read and pass."""
        tasks = places.within(self.reading.tasks).tasks
        return [walk for task in tasks for walk in self.reading.of(task) if walk.passed]


class FindingDraft(Struct, frozen=True, kw_only=True):
    """The words of a finding before its numbers are known."""

    title: str
    what: str
    fix: str
    """Empty where failures are described, and nothing shows that mending it would help."""
    brief: str
    kind: str
    owner: str
    """Who does it."""
    where: tuple[QuotedSentence, ...] = ()
    """Sentences with places and quotes; examples of the group where there are none."""
    support: Support = Support.DIRECT
    estimable: bool = True


MOST_RECOMPARED = 20_000
"""Rollouts that are compared; the rest keep what the scan saw."""
RECOMPARED_AT_A_TIME = 500


def with_keys_beside(run: Run) -> Run:
    """The run with `differs` and `signs` made from the keys of its inputs, where its own rows have none."""
    keyed = run.tasks.filter(pl.col("key_artifact").is_not_null())["task_id"]
    if keyed.is_empty() or run.read is None:
        return run
    mine = pl.col("task_id").is_in(keyed.implode()) & pl.col("outcome").is_in(["passed", "failed"])
    places = list(
        run.rollouts.select("task_id", "repeat", "outcome")
        .filter(mine)
        .drop("outcome")
        .head(MOST_RECOMPARED)
        .iter_rows()
    )
    return replace(run, rollouts=_with_fresh_evidence(run, places))


def _with_fresh_evidence(run: Run, places: Sequence[tuple[str, int]]) -> pl.DataFrame:
    from blade.evidence.signs.all_signs import signs

    found: dict[tuple[str, int], tuple[tuple[Difference, ...], tuple[Sign, ...]]] = {}
    for start in range(0, len(places), RECOMPARED_AT_A_TIME):
        some = places[start : start + RECOMPARED_AT_A_TIME]
        rollouts = run.read(run, some) if run.read is not None else []
        found |= {place: (differences(one), signs(one)) for place, one in zip(some, rollouts, strict=True)}
    fresh = pl.DataFrame(
        {"task_id": [task for task, _ in found], "repeat": [repeat for _, repeat in found]},
        schema={"task_id": pl.String, "repeat": pl.Int32},
    ).with_columns(
        differences_column("fresh_differs", [differs for differs, _ in found.values()]),
        signs_column("fresh_signs", [facts for _, facts in found.values()]),
        pl.lit(True).alias("read"),
    )
    joined = run.rollouts.join(fresh, on=["task_id", "repeat"], how="left", maintain_order="left")
    names = ("differs", "signs")
    chosen = [pl.when(pl.col("read")).then(pl.col(f"fresh_{one}")).otherwise(pl.col(one)).alias(one) for one in names]
    return joined.with_columns(chosen).drop("fresh_differs", "fresh_signs", "read")
