"""`gym eval aggregate`: shards of a run put together and summed up by agent, without a server.

`metrics_of` does the same for rows that a server was sent: what `/aggregate_metrics` answers.

The reference's keys come first, in its order and with its numbers; ours follow under `blade/...`. What was expected is
taken from the materialized inputs beside the shards, so that rollouts which never came are seen.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from blade.files import replacing, sidecar
from blade.ingest.artifacts import role_of
from blade.ingest.decode import Unusable
from blade.model.errors import ArtifactError, RequestError
from blade.model.rollout import Problem
from blade_gym.profile import honest
from blade_gym.profile.groups import as_read, columns, describe, frame, in_order, undisturbed
from blade_gym.profile.honest import tried_of
from blade_gym.profile.passes import family
from blade_gym.profile.profile import infos_of, task_row
from blade_gym.profile.rows import (
    AGENT,
    NAMELESS,
    REPEAT,
    TASK,
    GymRow,
    Key,
    Read,
    lines_of,
    read_inputs,
    read_keys,
    read_rollouts,
    row_of,
)

OVERLAP = "shards need distinct _ng_task_index values: stamp them into the input before it is cut into shards"
NO_SAMPLE = {AGENT: {"name": NAMELESS}}
"""What the reference writes as `sample`: it does not look at inputs here."""
HEADLINES = ("blade/pass@1", "blade/rollout_pass_rate", "blade/coverage")


class Shards(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Files that a pattern stands for."""

    files: list[Path]
    left_out: list[tuple[Path, str]]
    """Files that the pattern matches and that are no shards, and what they are."""


class Aggregate(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that the command writes and says."""

    agents: list[dict[str, Any]]
    """The entries of `_aggregate_metrics.json`, in order of name."""
    read: Read
    rows: list[GymRow]
    """Every rollout once, by task and repeat: the order of the merged file."""
    copies: int
    problems: tuple[Problem, ...]


class _Plan(msgspec.Struct, frozen=True, kw_only=True, eq=False):
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
        hint = "quote the pattern, and look where the command runs"
        if left_out:
            hint = "it matches only " + ", ".join(f"{path} ({what})" for path, what in left_out[:3])
        raise RequestError(f"No shards matched input_glob={patterns!r}", hint=hint)
    return Shards(files=files, left_out=left_out)


def aggregate(
    files: list[Path], *, threshold: float = 1.0, absent: Mapping[str, Counter[int]] | None = None
) -> Aggregate:
    """Sum up the rollouts of all files by agent; raises when they claim the same rollouts, or hold none.

    `absent` says what shards that are not here were to have, by agent and task.
    """
    with undisturbed():
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
        plan = _plan(files, inputs, absent or {}, read.problems)
        by_agent: dict[str, list[GymRow]] = {}
        for row in rows:
            by_agent.setdefault(row.agent or NAMELESS, []).append(row)
        agents = [_agent(name, by_agent[name], plan, threshold) for name in sorted(by_agent)]
    return Aggregate(agents=agents, read=read, rows=rows, copies=copies, problems=tuple(read.problems))


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
    keys = {(agent, key) for of_shard in inputs for key, agent in (of_shard or {}).items()}
    due = {agent: Counter(tasks) for agent, tasks in absent.items()}
    for agent, (task, _) in keys:
        due.setdefault(agent, Counter())[task] += 1
    return _Plan(due=due if None not in inputs else None, failed=failed)


def _agent(name: str, rows: list[GymRow], plan: _Plan, threshold: float) -> dict[str, Any]:
    """One entry of the file, from the rows of an agent in order of task and repeat."""
    due = plan.due.get(name) if plan.due is not None else None
    there = Counter(row.task for row in rows)
    if due is not None and any(due[task] < count for task, count in there.items()):
        due = None  # inputs that know fewer rollouts are of another run
    errored = plan.failed.get(name, set()) - {row.key for row in rows}
    read = as_read(rows)
    numbers, counted = frame(read), columns(read)
    (pooled,) = describe(numbers, np.zeros(len(rows), dtype=np.int64))
    ours = honest.of_agent(tried_of(counted, due, errored=len(errored), threshold=threshold))
    metrics = {**pooled, **family(tried_of(counted, None).rewards), **ours}
    highest = [key for key in metrics if key.startswith("blade/pass@") and key.removeprefix("blade/pass@").isdigit()]
    headlines = {*HEADLINES, *highest[-1:]}

    tasks, places = counted.number()
    known = {task: due[task] for task in tasks.tolist()} if due is not None else None
    tried = tried_of(counted, known, threshold=threshold)
    by_task = zip(
        tasks.tolist(), describe(numbers, places), infos_of(read, tried.rows), honest.of_tasks(tried), strict=True
    )
    return {
        AGENT: {"name": name},
        "agent_metrics": metrics,
        "key_metrics": {key: value for key, value in metrics.items() if key.startswith("mean/") or key in headlines},
        "group_level_metrics": [
            task_row(task, stats, NO_SAMPLE, len(infos), infos) | ours for task, stats, infos, ours in by_task
        ],
    }


def write_merged(result: Aggregate, output: Path) -> None:
    """Every rollout once, in order of task and repeat, as its line stands in its shard."""
    by_file: dict[int, list[GymRow]] = {}
    for row in result.rows:
        by_file.setdefault(row.file, []).append(row)
    # Each file gives its own lines in order; they are drawn as the rollouts want them.
    lines = {number: lines_of(result.read.files[number], rows) for number, rows in by_file.items()}
    with replacing(output) as merged:
        merged.writelines(next(lines[row.file]) + b"\n" for row in result.rows)


def metrics_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`agent_metrics`, `key_metrics` and `group_level_metrics` of the rows, whatever agent they name; empty for none.

    Rows without an index of their rollout are numbered within their task. Raises for rows without a task, and for two
    rows of one rollout.
    """
    if not rows:
        return {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}
    numbered: Counter[Any] = Counter()
    read = []
    for number, row in enumerate(rows):
        task = str(row.get(TASK))
        whole = row if row.get(REPEAT) is not None else {**row, REPEAT: numbered[task]}
        numbered[task] += 1
        try:
            read.append(row_of(msgspec.json.encode(whole), number))
        except Unusable as error:
            raise RequestError(f"row {number}: {error}", hint="rows are those of /verify, with their indices") from None
    read.sort(key=lambda row: row.key)
    twins = [key for key, count in Counter(row.key for row in read).items() if count > 1]
    if twins:
        raise RequestError(f"two rows are task {twins[0][0]}, rollout {twins[0][1]}", hint="send each rollout once")
    with undisturbed():
        entry = _agent(NAMELESS, read, _Plan(due=None, failed={}), 1.0)
    return {name: entry[name] for name in ("group_level_metrics", "agent_metrics", "key_metrics")}
