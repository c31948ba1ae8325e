"""Rollouts in order, without copies, and told apart by task: what profile and aggregate both start from."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from blade.ingest.cells import finite
from blade.model.errors import ArtifactError
from blade_gym.profile import honest
from blade_gym.profile.rows import NO_REWARD, REPEAT, TASK, GymRow, Read, lines_of
from blade_gym.profile.stats import AsRead, Floats, Integers

MOST_NAMED = 5
"""Keys and lines told in a message."""


def in_order(read: Read, hint: str) -> tuple[list[GymRow], int]:
    """Rows by task and rollout, and how many exact copies were left out; raises when two rows claim one rollout."""
    rows, single = _sorted(read.rows)
    if single:
        return rows, 0
    kept: dict[tuple[str | None, int, int], GymRow] = {}
    clashes: list[tuple[GymRow, GymRow]] = []
    for row in rows:
        first = kept.setdefault((row.agent, row.task, row.repeat), row)
        if first is not row and not _same(read, first, row):
            clashes.append((first, row))
    if clashes:
        raise _clash(read, clashes, hint)
    return list(kept.values()), len(rows) - len(kept)


def _sorted(rows: Sequence[GymRow]) -> tuple[list[GymRow], bool]:
    """Rows by task and rollout, those read first before their copies; and whether no two have the same key."""
    tasks = np.fromiter((row.task for row in rows), dtype=np.int64, count=len(rows))
    repeats = np.fromiter((row.repeat for row in rows), dtype=np.int64, count=len(rows))
    order = np.lexsort((repeats, tasks))
    same = (np.diff(tasks[order]) == 0) & (np.diff(repeats[order]) == 0)
    return [rows[place] for place in order.tolist()], not same.any()


def _same(read: Read, one: GymRow, other: GymRow) -> bool:
    if one.length != other.length:
        return False
    (first,), (second,) = lines_of(read.files[one.file], [one]), lines_of(read.files[other.file], [other])
    return first == second


def _clash(read: Read, clashes: Sequence[tuple[GymRow, GymRow]], hint: str) -> ArtifactError:
    first, other = clashes[0]
    message = (
        f"{len(clashes)} rollout(s) have two different rows; the first is task {first.task}, rollout {first.repeat}, "
        f"in {read.place(first)} and {read.place(other)}"
    )
    return ArtifactError(message, hint=hint)


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
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


def columns(found: AsRead) -> Columns:
    """Tasks and rewards of rollouts, in order."""
    count = len(found.rows)
    return Columns(
        tasks=np.fromiter((row.task for row in found.rows), dtype=np.int64, count=count)[found.back],
        rewards=np.fromiter((_reward(row.reward) for row in found.rows), dtype=np.float64, count=count)[found.back],
    )


def _reward(found: object) -> float:
    if type(found) is float:
        return found
    value = finite(found)
    return np.nan if value is None else value


def tried_of(
    found: Columns, due: Mapping[int, int] | None, *, errored: int = 0, threshold: float = 1.0
) -> honest.Tried:
    """The rollouts of one agent; `due` says how many each task was to have, and also names tasks without any."""
    planned = np.array(sorted(due or ()), dtype=np.int64)
    tasks = np.union1d(found.tasks, planned)
    places = np.searchsorted(tasks, found.tasks)
    sizes = np.bincount(places, minlength=len(tasks))
    return honest.Tried(
        rewards=reward_table(found.rewards, places, sizes),
        rows=sizes,
        expected=np.array([due.get(task, 0) for task in tasks.tolist()], dtype=np.int64) if due is not None else None,
        errored=errored,
        threshold=threshold,
    )


def reward_table(rewards: Floats, places: Integers, sizes: Integers) -> Floats:
    """Task x repeat, in order of repeat; NaN where a rollout has no reward or is not there."""
    starts = np.cumsum(sizes) - sizes
    table = np.full((len(sizes), int(sizes.max(initial=0))), np.nan)
    table[places, np.arange(len(rewards)) - starts[places]] = rewards
    return table


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
