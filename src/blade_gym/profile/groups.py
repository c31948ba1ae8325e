"""Rollouts in order, without copies, told apart by task: their columns, and mean, max, min, median and std of each.

The statistics are NeMo Gym's, to the last digit. Sums are made in the order in which numpy makes them for one group
alone, so that many groups at once give the same digits. Nulls are left out; a value that cannot be had has no key. One
habit of the reference is kept: where no field of a group has a spread, a field without gaps has the spread 0; otherwise
its key is absent.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from blade.ingest.cells import finite
from blade.model.errors import ArtifactError
from blade_gym.profile.rows import NO_REWARD, REPEAT, TASK, GymRow, Number, Read, lines_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STATS = ("mean", "max", "min", "median", "std")


def in_order(read: Read, hint: str) -> tuple[list[GymRow], int]:
    """Rows by task and rollout, and how many exact copies were left out; raises when two rows claim one rollout."""
    tasks = np.fromiter((row.task for row in read.rows), dtype=np.int64, count=len(read.rows))
    repeats = np.fromiter((row.repeat for row in read.rows), dtype=np.int64, count=len(read.rows))
    order = np.lexsort((repeats, tasks))  # stable: the row that was read first stands before its copies
    rows = [read.rows[place] for place in order.tolist()]
    if not ((np.diff(tasks[order]) == 0) & (np.diff(repeats[order]) == 0)).any():
        return rows, 0
    firsts: dict[tuple[str | None, int, int], GymRow] = {}
    clashes: list[tuple[GymRow, GymRow]] = []
    for row in rows:
        first = firsts.setdefault((row.agent, row.task, row.repeat), row)
        if first is not row and not _same_bytes(read, first, row):
            clashes.append((first, row))
    if clashes:
        first, other = clashes[0]
        raise ArtifactError(
            f"{len(clashes)} rollout(s) have two different rows; the first is task {first.task}, rollout "
            f"{first.repeat}, in {read.location(first)} and {read.location(other)}",
            hint=hint,
        )
    return list(firsts.values()), len(rows) - len(firsts)


def _same_bytes(read: Read, first: GymRow, second: GymRow) -> bool:
    if first.length != second.length:
        return False
    lines = [next(lines_of(read.files[row.file], [row])) for row in (first, second)]
    return lines[0] == lines[1]


class Columns(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What is counted of rollouts in order, a number a rollout."""

    tasks: Integers
    """Index of the task."""
    rewards: Floats
    """NaN where a rollout has no finite reward."""

    def take(self, places: Integers) -> Columns:
        """The rollouts at some places."""
        return Columns(tasks=self.tasks[places], rewards=self.rewards[places])

    def number(self) -> tuple[Integers, Integers]:
        """The tasks in order, and for each rollout the place of its task among them."""
        tasks, places = np.unique(self.tasks, return_inverse=True)
        return tasks, places


def columns(read: AsRead) -> Columns:
    """Tasks and rewards of rollouts, in order."""
    count = len(read.rows)
    return Columns(
        tasks=np.fromiter((row.task for row in read.rows), dtype=np.int64, count=count)[read.back],
        rewards=np.fromiter((_reward(row.reward) for row in read.rows), dtype=np.float64, count=count)[read.back],
    )


def _reward(given: object) -> float:
    if type(given) is float:
        return given
    value = finite(given)
    return np.nan if value is None else value


class Frame(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Numbers of some rollouts, a column a field."""

    names: tuple[str, ...]
    """In the order in which rows first have them."""
    columns: Floats
    """Field x rollout; NaN where a rollout has no such number."""
    whole: bool
    """Every rollout has every field, and all are integers: the largest and the smallest are then integers too."""

    def take(self, places: Integers) -> Frame:
        """The rollouts at some places, with every field."""
        return Frame(names=self.names, columns=self.columns[:, places], whole=self.whole)


class AsRead(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Rollouts as they were read: what lies side by side in memory is gone through far quicker."""

    rows: Sequence[GymRow]
    back: Integers
    """Where each rollout, in order of task and repeat, is among them."""

    def in_order(self) -> list[GymRow]:
        """By task and repeat."""
        return [self.rows[place] for place in self.back.tolist()]


def as_read(rows: Sequence[GymRow]) -> AsRead:
    """Rollouts that are in order, as they were read."""
    home = np.argsort(np.fromiter((row.serial for row in rows), dtype=np.int64, count=len(rows)))
    return AsRead(rows=[rows[place] for place in home.tolist()], back=np.argsort(home))


def frame(read: AsRead) -> Frame:
    """The numbers of rollouts, in order; those of `usage` go before those of the same name in the row."""
    rows = read.rows
    shapes = _shapes(rows)
    alike = len(shapes) == 1 and all(set(own).isdisjoint(usage) for own, usage in shapes)
    shapes = shapes if alike else _shapes(read.in_order())
    names = tuple(dict.fromkeys(name for own, usage in shapes for name in (*own, *usage)))
    values: Iterator[Iterable[Number]]
    if alike:
        values = (fields.values() for row in rows for fields in (row.own, row.usage))
    else:
        values = ([(row.own | row.usage).get(name, np.nan) for name in names] for row in rows)
    table = np.fromiter(chain.from_iterable(values), dtype=np.float64, count=len(rows) * len(names))
    whole = len(shapes) == 1 and all(type(n) is int for row in rows for n in (row.own | row.usage).values())
    columns = np.ascontiguousarray(table.reshape(len(rows), len(names))[read.back].T)
    return Frame(names=names, columns=columns, whole=whole)


def _shapes(rows: Sequence[GymRow]) -> dict[tuple[tuple[str, ...], tuple[str, ...]], None]:
    """The fields of rows, each combination once, in the order in which they come."""
    return dict.fromkeys((tuple(row.own), tuple(row.usage)) for row in rows)


def describe(numbers: Frame, groups: Integers) -> list[dict[str, Number]]:
    """The statistics of each group; `groups` numbers the group of each rollout, from 0 and in ascending order."""
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(sizes) else sizes
    table = np.full((len(sizes), len(STATS), len(numbers.names)), np.nan)
    for size in np.unique(sizes[sizes > 0]):
        chosen = np.flatnonzero(sizes == size)
        places = starts[chosen][:, None] + np.arange(size)
        table[chosen] = _statistics(np.ascontiguousarray(numbers.columns[:, places]))
    keys = [f"{stat}/{name}" for stat in STATS for name in numbers.names]
    integers = [numbers.whole and key.startswith(("max/", "min/")) for key in keys]
    return [
        {
            key: int(value) if integer else value
            for key, value, integer in zip(keys, row, integers, strict=True)
            if value == value
        }
        for row in table.reshape(len(table), len(keys)).tolist()
    ]


def _statistics(values: Floats) -> Floats:
    """Statistics of groups of one size: field x group x rollout to group x statistic x field."""
    there = ~np.isnan(values)
    counts = there.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=2) / counts
        squares = np.where(there, (mean[:, :, None] - values) ** 2, 0.0).sum(axis=2)
        std = np.sqrt(squares / np.where(counts > 1, counts - 1, np.nan))
    high = np.where(there, values, -np.inf).max(axis=2)
    low = np.where(there, values, np.inf).min(axis=2)
    ordered = np.sort(values, axis=2)  # NaN goes last
    middle = np.stack([np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, values.shape[2] - 1)], axis=2)
    pair = np.take_along_axis(ordered, middle, axis=2)
    median = (pair[:, :, 0] + pair[:, :, 1]) / 2
    no_spread = np.isnan(std).all(axis=0) & (counts == values.shape[2]) & np.isnan(std)
    made = np.stack([mean, high, low, median, np.where(no_spread, 0.0, std)])
    return np.where(np.isfinite(made), made, np.nan).transpose(2, 0, 1)


def rollout_info(row: GymRow) -> dict[str, Any]:
    """One entry of `rollout_infos`; here the row's own numbers go before those of `usage`."""
    task, repeat, reward = row.task, row.repeat, row.reward
    name = f"{task}:{repeat}"
    if type(reward) is float:
        return {"rollout_id": name, TASK: task, REPEAT: repeat, "reward": reward, **row.usage, **row.own}
    rest = {field: value for field, value in row.own.items() if field != "reward"}
    given = {} if reward is NO_REWARD else {"reward": reward}
    return {"rollout_id": name, TASK: task, REPEAT: repeat, **given, **row.usage, **rest}


@contextmanager
def undisturbed() -> Iterator[None]:
    """Many small objects are made and none in a circle: the collector of circles would only look at them again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
