"""`gym eval aggregate`: shards of a run put together and summed up by agent, without a server.

The reference's keys come first, in its order and with its numbers; ours follow under `blade/...`. What was expected is
taken from the materialized inputs beside the shards, so that rollouts which never came are seen.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blade.files import replacing, sidecar
from blade.ingest.artifacts import role_of
from blade.model.errors import ArtifactError, RequestError
from blade.model.rollout import Problem
from blade_gym.profile import honest
from blade_gym.profile.groups import columns, in_order, tried_of, undisturbed
from blade_gym.profile.passes import family
from blade_gym.profile.profile import infos_of, task_row
from blade_gym.profile.rows import AGENT, NAMELESS, GymRow, Key, Read, lines_of, read_inputs, read_keys, read_rollouts
from blade_gym.profile.stats import AsRead, Frame, as_read, describe, frame

OVERLAP = "shards need distinct _ng_task_index values: stamp them into the input before it is cut into shards"
NO_SAMPLE = {AGENT: {"name": NAMELESS}}
"""What the reference writes as `sample`: it does not look at inputs here."""
HEADLINES = ("blade/pass@1", "blade/rollout_pass_rate", "blade/coverage")


@dataclass(frozen=True, kw_only=True)
class Shards:
    """Files that a pattern stands for."""

    files: list[Path]
    left_out: list[tuple[Path, str]]
    """Files that the pattern matches and that are no shards, and what they are."""


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """Everything that the command writes and says."""

    agents: list[dict[str, Any]]
    """The entries of `_aggregate_metrics.json`, in order of name."""
    read: Read
    rows: list[GymRow]
    """Every rollout once, by task and repeat: the order of the merged file."""
    copies: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What the sidecars of all shards say, by agent."""

    due: dict[str, Counter[int]] | None
    """Rollouts that each task was to have; None where a shard has no inputs beside it."""
    failed: dict[str, set[Key]]


def find_shards(patterns: str, output: Path) -> Shards:
    """The shards of comma-separated patterns, each once, in order; sidecars and an earlier merge are left out."""
    matched: dict[Path, bool] = {}
    for pattern in filter(None, map(str.strip, patterns.split(","))):
        for path in sorted(glob.glob(pattern, recursive=True)):
            matched.setdefault(Path(path), glob.has_magic(pattern))
    left_out = [(path, f"the {role_of(path)} sidecar") for path in matched if role_of(path) != "rollouts"]
    left_out += [(path, "a folder") for path in matched if path.is_dir()]
    shards = [path for path in matched if path not in dict(left_out)]
    # A pattern may match what an earlier call merged; a file that is named, or stands alone, is meant.
    earlier = [path for path in shards if matched[path] and len(shards) > 1 and path.resolve() == output.resolve()]
    left_out += [(path, "the output of an earlier merge") for path in earlier]
    files = [path for path in shards if path not in earlier]
    if not files:
        raise RequestError(f"No shards matched input_glob={patterns!r}", hint=_why_none(left_out))
    return Shards(files=files, left_out=left_out)


def _why_none(left_out: Sequence[tuple[Path, str]]) -> str:
    if not left_out:
        return "quote the pattern, and look where the command runs"
    return "it matches only " + ", ".join(f"{path} ({what})" for path, what in left_out[:3])


def aggregate(
    files: list[Path], *, threshold: float = 1.0, absent: Mapping[str, Counter[int]] | None = None
) -> Aggregate:
    """Sum up the rollouts of all files by agent; raises when they claim the same rollouts, or hold none.

    `absent` says what shards that are not here were to have, by agent and task.
    """
    with undisturbed():
        return _aggregate(files, threshold, absent or {})


def _aggregate(files: list[Path], threshold: float, absent: Mapping[str, Counter[int]]) -> Aggregate:
    read = read_rollouts(files)
    if not read.rows and read.problems:
        first = read.problems[0]
        raise ArtifactError(
            f"no usable rollout among {len(read.problems)} line(s); {first.source}: {first.reason}",
            hint="rows need _ng_task_index and _ng_rollout_index; `blade analyze` reads rollouts without them",
        )
    inputs = [_agents_of_inputs(path, read.problems) for path in files]
    for row in read.rows:
        row.agent = row.agent or (inputs[row.file] or {}).get(row.key)
    rows, copies = in_order(read, OVERLAP)
    plan = _plan(files, inputs, absent, read.problems)
    agents = [_agent(name, mine, plan, threshold) for name, mine in _by_agent(rows)]
    return Aggregate(agents=agents, read=read, rows=rows, copies=copies, problems=tuple(read.problems))


def _by_agent(rows: Sequence[GymRow]) -> list[tuple[str, list[GymRow]]]:
    groups: dict[str, list[GymRow]] = {}
    for row in rows:
        groups.setdefault(row.agent or NAMELESS, []).append(row)
    return sorted(groups.items())


def _agents_of_inputs(shard: Path, problems: list[Problem]) -> dict[Key, str] | None:
    """The rollouts that the inputs beside a shard ask for, and whom; None where it has none."""
    path = sidecar(shard, "_materialized_inputs.jsonl")
    return {row.key: row.agent for row in read_inputs(path, problems)} if path is not None else None


def _plan(
    files: Sequence[Path],
    inputs: Sequence[dict[Key, str] | None],
    absent: Mapping[str, Counter[int]],
    problems: list[Problem],
) -> _Plan:
    failed: dict[str, set[Key]] = {}
    for path in filter(None, (sidecar(path, "_failures.jsonl") for path in files)):
        for agent, key in read_keys(path, problems):
            failed.setdefault(agent, set()).add(key)
    keys = {(agent, key) for mine in inputs for key, agent in (mine or {}).items()}
    due = {agent: Counter(tasks) for agent, tasks in absent.items()}
    for agent, (task, _) in keys:
        due.setdefault(agent, Counter())[task] += 1
    return _Plan(due=due if None not in inputs else None, failed=failed)


def entry_of(name: str, rows: list[GymRow], *, threshold: float = 1.0) -> dict[str, Any]:
    """The entry of an agent whose rows are known and whose plan is not: rows in order of task and repeat, each once."""
    with undisturbed():
        return _agent(name, rows, _Plan(due=None, failed={}), threshold)


def _agent(name: str, rows: list[GymRow], plan: _Plan, threshold: float) -> dict[str, Any]:
    """One entry of the file."""
    due = _due(name, rows, plan)
    errored = plan.failed.get(name, set()) - {row.key for row in rows}
    read = as_read(rows)
    found, counted = frame(read), columns(read)
    (pooled,) = describe(found, np.zeros(len(rows), dtype=np.int64))
    ours = honest.of_agent(tried_of(counted, due, errored=len(errored), threshold=threshold))
    metrics = {**pooled, **family(tried_of(counted, None).rewards), **ours}
    return {
        AGENT: {"name": name},
        "agent_metrics": metrics,
        "key_metrics": _key_metrics(metrics),
        "group_level_metrics": _groups(read, found, due, threshold),
    }


def _due(name: str, rows: Sequence[GymRow], plan: _Plan) -> Counter[int] | None:
    """What inputs say, if they cover what is there: inputs that know fewer rollouts are of another run."""
    due = plan.due.get(name) if plan.due is not None else None
    there = Counter(row.task for row in rows)
    return due if due is not None and all(due[task] >= count for task, count in there.items()) else None


def _key_metrics(metrics: dict[str, Any]) -> dict[str, Any]:
    highest = [
        name for name in metrics if name.startswith("blade/pass@") and name.removeprefix("blade/pass@").isdigit()
    ]
    wanted = {*HEADLINES, *highest[-1:]}
    return {name: value for name, value in metrics.items() if name.startswith("mean/") or name in wanted}


def _groups(read: AsRead, found: Frame, due: Counter[int] | None, threshold: float) -> list[dict[str, Any]]:
    counted = columns(read)
    tasks, places = counted.number()
    known = {task: due[task] for task in tasks.tolist()} if due is not None else None
    tried = tried_of(counted, known, threshold=threshold)
    infos = infos_of(read, tried.rows)
    return [
        task_row(task, stats, NO_SAMPLE, len(mine), mine) | ours
        for task, stats, mine, ours in zip(
            tasks.tolist(), describe(found, places), infos, honest.of_tasks(tried), strict=True
        )
    ]


def write_merged(found: Aggregate, output: Path) -> None:
    """Every rollout once, in order of task and repeat, as its line stands in its shard."""
    with replacing(output) as merged:
        merged.writelines(line + b"\n" for line in _lines(found))


def _lines(found: Aggregate) -> Iterator[bytes]:
    """Each file gives its own lines in order; they are drawn as the rollouts want them."""
    mine: dict[int, list[GymRow]] = {}
    for row in found.rows:
        mine.setdefault(row.file, []).append(row)
    lines = {number: lines_of(found.read.files[number], rows) for number, rows in mine.items()}
    return (next(lines[row.file]) for row in found.rows)
