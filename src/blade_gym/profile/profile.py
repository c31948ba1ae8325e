"""`gym eval profile`: rewards per task and per agent, from rollouts and the inputs they were made from.

The reference's keys come first, in its order and with its numbers; ours follow under `blade/...`. Nothing is written or
printed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from blade.files import sidecar
from blade.model.errors import ArtifactError
from blade.model.rollout import Problem
from blade_gym.profile import honest
from blade_gym.profile.groups import (
    AsRead,
    Columns,
    Frame,
    Integers,
    as_read,
    columns,
    describe,
    frame,
    in_order,
    rollout_info,
    undisturbed,
)
from blade_gym.profile.honest import tried_of
from blade_gym.profile.rows import (
    AGENT,
    REPEAT,
    TASK,
    GymRow,
    InputRow,
    Key,
    Read,
    read_inputs,
    read_keys,
    read_rollouts,
)

TWICE = "one rollout must have one row: was a file appended to twice? Remove the row that does not count"
MOST_NAMED = 5
"""Keys in a message; more would drown it."""
PARTIAL = "++allow_partial_rollouts=True (or --allow-partial) profiles what is there"


class Completion(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How much of what was to be made is there."""

    expected: int
    completed: int
    tasks: int
    complete: int
    partial: int
    without: int
    """Tasks without any rollout: they have no row in the profile."""

    @property
    def percent(self) -> float:
        return 100.0 * self.completed / self.expected if self.expected else 100.0


class Profile(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that the command writes and says."""

    tasks: list[dict[str, Any]]
    """The rows of `_reward_profiling.jsonl`."""
    agents: list[dict[str, Any]]
    """The entries of `_agent_metrics.json`."""
    completion: Completion
    copies: int
    """Rows that stand twice, byte for byte, and count once."""
    problems: tuple[Problem, ...]


def profile(
    rollouts: Path,
    inputs: Path,
    *,
    allow_partial: bool = False,
    threshold: float = 1.0,
    absent: Mapping[str, Counter[int]] | None = None,
) -> Profile:
    """Join rollouts with their inputs and describe them; raises where the two do not belong together.

    `absent` says what shards that are not here were to have, by agent and task.
    """
    with undisturbed():
        read = read_rollouts([rollouts])
        rows, copies = in_order(read, TWICE)
        problems = read.problems
        planned = read_plan(inputs, problems, rows)
    by_key = {row.key: row for row in rows}
    if len(by_key) < len(rows):
        raise ArtifactError("two agents claim the same rollout", hint=TWICE)
    _check(by_key, planned, read, allow_partial)
    path = sidecar(rollouts, "_failures.jsonl")
    failures = {key for _, key in read_keys(path, problems)} if path is not None else set()
    failed = Counter(planned[key].agent for key in sorted(failures & planned.keys() - by_key.keys()))
    tasks, agents = of_rows(rows, planned, failed, threshold, absent)
    return Profile(
        tasks=tasks,
        agents=agents,
        completion=_completion(by_key, planned),
        copies=copies,
        problems=tuple(problems),
    )


def of_rows(
    rows: Sequence[GymRow],
    planned: dict[Key, InputRow],
    failed: Counter[str],
    threshold: float,
    absent: Mapping[str, Counter[int]] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of the tasks and the entries of the agents, from rollouts in order and the inputs of all of them."""
    with undisturbed():
        read = as_read(rows)
        joined = _Joined(read=read, planned=planned, columns=columns(read), frame=frame(read), threshold=threshold)
        return _tasks(joined), _agents(joined, failed, absent or {})


class _Joined(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Rollouts in order with what is counted of them, and their inputs."""

    read: AsRead
    planned: dict[Key, InputRow]
    columns: Columns
    frame: Frame
    threshold: float


def read_plan(path: Path, problems: list[Problem], rows: Sequence[GymRow]) -> dict[Key, InputRow]:
    """The inputs by key; that of the first rollout of each task is kept whole, for the task's `sample`."""
    firsts = {row.task: row.key for row in reversed(rows)}
    planned: dict[Key, InputRow] = {}
    for row in read_inputs(path, problems, set(firsts.values())):
        if planned.setdefault(row.key, row) is not row:
            first = planned[row.key]
            message = f"{path}:{row.line} has the key of line {first.line}: task {row.task}, rollout {row.repeat}"
            raise ArtifactError(message, hint="materialized inputs have one row a rollout; is it the right file?")
    if not planned:
        raise ArtifactError(f"{path} holds no materialized input", hint=f"its rows need {TASK} and {REPEAT}")
    return planned


def _check(rows: dict[Key, GymRow], planned: dict[Key, InputRow], read: Read, allow_partial: bool) -> None:
    extra = sorted(rows.keys() - planned.keys())
    if extra:
        message = f"{len(extra)} rollout(s) have no materialized input: {_named(extra)}"
        raise ArtifactError(message, hint="are the inputs of another run? Give those that `gym eval run` wrote with it")
    missing = sorted(planned.keys() - rows.keys())
    if missing and not allow_partial:
        message = f"{len(missing)} of {len(planned)} materialized inputs have no rollout: {_named(missing)}"
        lost = f"; {len(read.problems)} line(s) could not be used as they are" if read.problems else ""
        raise ArtifactError(message + lost, hint=PARTIAL)


def _named(keys: Sequence[Key]) -> str:
    listed = ", ".join(f"{task}:{repeat}" for task, repeat in keys[:MOST_NAMED])
    return listed + (f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else "")


def _completion(rows: dict[Key, GymRow], planned: dict[Key, InputRow]) -> Completion:
    due = Counter(map(itemgetter(0), planned))
    done = Counter(map(itemgetter(0), rows))
    complete = sum(done[task] == expected for task, expected in due.items())
    without = sum(done[task] == 0 for task in due)
    return Completion(
        expected=len(planned),
        completed=len(rows),
        tasks=len(due),
        complete=complete,
        partial=len(due) - complete - without,
        without=without,
    )


def _tasks(joined: _Joined) -> list[dict[str, Any]]:
    """A row for every task that has a rollout, in order of task."""
    tasks, places = joined.columns.number()
    planned = Counter(map(attrgetter("task"), joined.planned.values()))
    due = {task: planned[task] for task in tasks.tolist()}
    tried = tried_of(joined.columns, due, threshold=joined.threshold)
    described, by_task = describe(joined.frame, places), infos_of(joined.read, tried.rows)
    rows = []
    for task, stats, infos, ours in zip(due, described, by_task, honest.of_tasks(tried), strict=True):
        first = joined.planned[task, infos[0][REPEAT]].row or {}
        sample = {name: value for name, value in first.items() if name not in (TASK, REPEAT)}
        rows.append(task_row(task, stats, sample, due[task], infos) | ours)
    return rows


def infos_of(read: AsRead, sizes: Integers) -> list[list[dict[str, Any]]]:
    """The `rollout_infos` of tasks of these sizes."""
    made = [rollout_info(row) for row in read.rows]
    infos = [made[place] for place in read.back.tolist()]
    ends = np.cumsum(sizes).tolist()
    return [infos[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]


def task_row(
    task: int, stats: dict[str, Any], sample: dict[str, Any], expected: int, infos: list[dict[str, Any]]
) -> dict[str, Any]:
    """One task as the reference writes it."""
    return {
        TASK: task,
        **stats,
        "sample": sample,
        "num_rollouts": len(infos),
        "expected_num_rollouts": expected,
        "missing_num_rollouts": expected - len(infos),
        "reward_profile_completion_pct": 100.0 * len(infos) / expected if expected else 100.0,
        "rollout_infos": infos,
    }


def _agents(joined: _Joined, failed: Counter[str], absent: Mapping[str, Counter[int]]) -> list[dict[str, Any]]:
    """An entry for every agent that has a rollout, in order of name; agents are named by the inputs."""
    planned = joined.planned
    owners = [planned[row.task, row.repeat].agent for row in joined.read.rows]
    names = sorted(set(owners))
    where = {name: place for place, name in enumerate(names)}
    places = np.fromiter(map(where.__getitem__, owners), dtype=np.int64, count=len(owners))[joined.read.back]
    order = np.argsort(places, kind="stable")
    described = describe(joined.frame.take(order), places[order])
    due: dict[str, dict[int, int]] = {}
    for (agent, task), count in Counter(map(attrgetter("agent", "task"), planned.values())).items():
        due.setdefault(agent, {})[task] = count
    entries = []
    for place, (name, stats) in enumerate(zip(names, described, strict=True)):
        own = joined.columns.take(np.flatnonzero(places == place))
        tried = tried_of(own, due[name] | absent.get(name, {}), errored=failed[name], threshold=joined.threshold)
        entries.append({**stats, AGENT: {"name": name}, **honest.of_agent(tried)})
    return entries
