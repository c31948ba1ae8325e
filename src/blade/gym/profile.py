"""`gym eval profile`: rewards per task and per agent, from rollouts and the inputs they were made from.

The reference's keys come first, in its order and with its numbers; ours follow under `blade/...`. Nothing is written or
printed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blade.core.errors import ArtifactError
from blade.core.rollout import Problem
from blade.gym import honest
from blade.gym.files import sidecar
from blade.gym.groups import MOST_NAMED, in_order, number_tasks, reward_table, rollout_info
from blade.gym.rows import AGENT, REPEAT, TASK, GymRow, InputRow, Key, Read, read_inputs, read_keys, read_rollouts
from blade.gym.stats import Frame, Integers, describe, frame
from blade.ingest.decode import Row

TWICE = "one rollout must have one row: was a file appended to twice? Remove the row that does not count"
PARTIAL = "++allow_partial_rollouts=True (or --allow-partial) profiles what is there"


@dataclass(frozen=True, kw_only=True)
class Completion:
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


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Everything that the command writes and says."""

    tasks: list[dict[str, Any]]
    """The rows of `_reward_profiling.jsonl`."""
    agents: list[dict[str, Any]]
    """The entries of `_agent_metrics.json`."""
    completion: Completion
    copies: int
    """Rows that stand twice, byte for byte, and count once."""
    problems: tuple[Problem, ...]


def profile(rollouts: Path, inputs: Path, *, allow_partial: bool = False, threshold: float = 1.0) -> Profile:
    """Join rollouts with their inputs and describe them; raises where the two do not belong together."""
    read = read_rollouts([rollouts])
    rows, copies = in_order(read, TWICE)
    problems = read.problems
    planned = _planned(inputs, problems, _firsts(rows))
    by_key = {row.key: row for row in rows}
    if len(by_key) < len(rows):
        raise ArtifactError("two agents claim the same rollout", hint=TWICE)
    _check(by_key, planned, read, allow_partial)
    failed = _failed(rollouts, by_key, planned, problems)
    tasks, agents = of_rows(rows, planned, failed, threshold)
    return Profile(
        tasks=tasks,
        agents=agents,
        completion=_completion(by_key, planned),
        copies=copies,
        problems=tuple(problems),
    )


def of_rows(
    rows: Sequence[GymRow], planned: dict[Key, InputRow], failed: Counter[str], threshold: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of the tasks and the entries of the agents, from rollouts in order and the inputs of all of them."""
    numbers = frame(rows)
    return _tasks(rows, numbers, planned, threshold), _agents(rows, numbers, planned, failed, threshold)


def _firsts(rows: Sequence[GymRow]) -> set[Key]:
    """The first rollout of each task: its input is the task's `sample`."""
    firsts: dict[int, Key] = {}
    for row in rows:
        firsts.setdefault(row.task, row.key)
    return set(firsts.values())


def _planned(path: Path, problems: list[Problem], whole: set[Key]) -> dict[Key, InputRow]:
    planned: dict[Key, InputRow] = {}
    for row in read_inputs(path, problems, whole):
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


def _failed(
    rollouts: Path, rows: dict[Key, GymRow], planned: dict[Key, InputRow], problems: list[Problem]
) -> Counter[str]:
    """Rollouts that stand only in the failures beside the rollouts, by agent."""
    path = sidecar(rollouts, "_failures.jsonl")
    keys = {key for _, key in read_keys(path, problems)} if path is not None else set()
    return Counter(planned[key].agent for key in sorted(keys & planned.keys() - rows.keys()))


def _completion(rows: dict[Key, GymRow], planned: dict[Key, InputRow]) -> Completion:
    due = Counter(task for task, _ in planned)
    done = Counter(task for task, _ in rows)
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


def _tasks(
    rows: Sequence[GymRow], numbers: Frame, planned: dict[Key, InputRow], threshold: float
) -> list[dict[str, Any]]:
    """A row for every task that has a rollout, in order of task."""
    tasks, places = number_tasks(rows)
    due = Counter(task for task, _ in planned)
    sizes = np.bincount(places, minlength=len(tasks))
    tried = honest.Tried(
        rewards=reward_table(rows, places, len(tasks)),
        rows=sizes,
        expected=np.array([due[task] for task in tasks], dtype=np.int64),
        threshold=threshold,
    )
    infos = _infos(rows, sizes)
    described = describe(numbers, places)
    return [
        task_row(task, stats, _sample(planned[(task, mine[0][REPEAT])].row), due[task], mine) | ours
        for task, stats, mine, ours in zip(tasks, described, infos, honest.of_tasks(tried), strict=True)
    ]


def _infos(rows: Sequence[GymRow], sizes: Integers) -> list[list[dict[str, Any]]]:
    infos = [rollout_info(row) for row in rows]
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


def _sample(row: Row | None) -> dict[str, Any]:
    return {name: value for name, value in (row or {}).items() if name not in (TASK, REPEAT)}


def _agents(
    rows: Sequence[GymRow], numbers: Frame, planned: dict[Key, InputRow], failed: Counter[str], threshold: float
) -> list[dict[str, Any]]:
    """An entry for every agent that has a rollout, in order of name; agents are named by the inputs."""
    owners = [planned[row.key].agent for row in rows]
    names = sorted(set(owners))
    where = {name: place for place, name in enumerate(names)}
    places = np.array([where[owner] for owner in owners], dtype=np.int64)
    order = np.argsort(places, kind="stable")
    described = describe(numbers.take(order), places[order])
    due: dict[str, Counter[int]] = {name: Counter() for name in names}
    for name, task in ((row.agent, row.task) for row in planned.values() if row.agent in due):
        due[name][task] += 1
    entries = []
    for name, stats in zip(names, described, strict=True):
        mine = [rows[place] for place in np.flatnonzero(places == where[name]).tolist()]
        tried = tried_of(mine, due[name], failed[name], threshold)
        entries.append({**stats, AGENT: {"name": name}, **honest.of_agent(tried)})
    return entries


def tried_of(rows: Sequence[GymRow], due: Counter[int] | None, errored: int, threshold: float) -> honest.Tried:
    """The rollouts of one agent; `due` says how many each task was to have, and also names tasks without any."""
    tasks = sorted({row.task for row in rows} | set(due or ()))
    where = {task: place for place, task in enumerate(tasks)}
    places = np.array([where[row.task] for row in rows], dtype=np.int64)
    return honest.Tried(
        rewards=reward_table(rows, places, len(tasks)),
        rows=np.bincount(places, minlength=len(tasks)),
        expected=np.array([due[task] for task in tasks], dtype=np.int64) if due is not None else None,
        errored=errored,
        threshold=threshold,
    )
