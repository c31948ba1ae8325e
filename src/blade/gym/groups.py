"""Rollouts in order, without copies, and told apart by task: what profile and aggregate both start from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from blade.core.errors import ArtifactError
from blade.gym.rows import NO_REWARD, REPEAT, TASK, GymRow, Read, lines_of
from blade.gym.stats import Floats, Integers
from blade.ingest.cells import finite

MOST_NAMED = 5
"""Keys and lines told in a message."""


def in_order(read: Read, hint: str) -> tuple[list[GymRow], int]:
    """Rows by task and rollout, and how many exact copies were left out; raises when two rows claim one rollout."""
    rows = sorted(read.rows, key=lambda row: (row.task, row.repeat))
    kept: dict[tuple[str | None, int, int], GymRow] = {}
    clashes: list[tuple[GymRow, GymRow]] = []
    for row in rows:
        first = kept.setdefault((row.agent, row.task, row.repeat), row)
        if first is not row and not _same(read, first, row):
            clashes.append((first, row))
    if clashes:
        raise _clash(read, clashes, hint)
    return list(kept.values()), len(rows) - len(kept)


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


def number_tasks(rows: Sequence[GymRow]) -> tuple[list[int], Integers]:
    """The tasks in order, and for each row the place of its task among them; rows must be in order."""
    tasks, places = np.unique(np.array([row.task for row in rows], dtype=np.int64), return_inverse=True)
    return tasks.tolist(), places


def reward_table(rows: Sequence[GymRow], places: Integers, tasks: int) -> Floats:
    """Task x repeat, in order of repeat; NaN where a rollout has no finite reward or is not there."""
    sizes = np.bincount(places, minlength=tasks)
    starts = np.cumsum(sizes) - sizes
    table = np.full((tasks, int(sizes.max(initial=0))), np.nan)
    table[places, np.arange(len(rows)) - starts[places]] = [_reward(row.reward) for row in rows]
    return table


def _reward(found: object) -> float:
    if type(found) is float:
        return found
    value = finite(found)
    return np.nan if value is None else value


def rollout_info(row: GymRow) -> dict[str, Any]:
    """One entry of `rollout_infos`; here the row's own numbers go before those of `usage`."""
    head = {"rollout_id": f"{row.task}:{row.repeat}", TASK: row.task, REPEAT: row.repeat}
    if type(row.reward) is float:
        return {**head, "reward": row.reward, **row.usage, **row.own}
    rest = {name: value for name, value in row.own.items() if name != "reward"}
    return {**head, **({} if row.reward is NO_REWARD else {"reward": row.reward}), **row.usage, **rest}
