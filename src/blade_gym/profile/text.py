"""What the two commands print: the reference's own lines, then ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blade.model.rollout import Problem
from blade.report.numbers import plural, score
from blade_gym.profile.aggregate import Aggregate, Shards
from blade_gym.profile.honest import REASONS
from blade_gym.profile.profile import Profile
from blade_gym.profile.rows import AGENT

MOST_PROBLEMS = 5


def profile_lines(found: Profile, rows: Path, agents: Path) -> list[str]:
    """The summary of `gym eval profile`."""
    done = found.completion
    inputs = f"{done.tasks} total; {done.complete} complete; {done.partial} partial"
    return [
        "Profiling outputs:",
        f"Reward profile completion: {done.completed}/{done.expected} rollout rows ({done.percent:.2f}%)",
        f"Input rows: {inputs}; {done.without} without rollouts dropped from output.",
        f"Reward profiling outputs: {rows}",
        f"Agent-level metrics: {agents}",
        *(agent_line(entry[AGENT]["name"], entry) for entry in found.agents),
    ]


def shard_lines(shards: Shards) -> list[str]:
    """Which files are taken."""
    return [f"Aggregating {len(shards.files)} shard(s):", *(f"  - {path}" for path in shards.files)]


def loaded_line(found: Aggregate) -> str:
    """How much was read."""
    return f"Loaded {len(found.rows)} rollout record(s) from {len(found.read.files)} shard(s)"


def aggregate_lines(found: Aggregate, merged: Path | None, metrics: Path) -> list[str]:
    """The summary of `gym eval aggregate`."""
    lines = []
    for entry in found.agents:
        name = entry[AGENT]["name"]
        lines += ["", f"Key metrics for {name}:", *json.dumps(entry["key_metrics"], indent=4).splitlines()]
    lines += [
        "Finished rollout aggregation! View results at:",
        f"Merged rollouts: {merged if merged is not None else '<not merged>'}",
        f"Aggregate metrics: {metrics}",
    ]
    return lines + [agent_line(entry[AGENT]["name"], entry["agent_metrics"]) for entry in found.agents]


def agent_line(agent: str, numbers: dict[str, Any]) -> str:
    """Our numbers of one agent in a line, each with what it rests on."""
    tasks, rollouts = numbers["blade/variance/tasks"], numbers["blade/judged_rollouts"]
    parts = [_part(numbers, f"pass@{k}", plural(numbers[f"blade/pass@{k}/tasks"], "task")) for k in _ends(numbers)]
    parts += [
        _part(numbers, "rollout_pass_rate", plural(rollouts, "rollout")),
        _part(numbers, "variance", plural(tasks, "task")),
        _part(numbers, "coverage", f"{rollouts} of {numbers['blade/expected_rollouts']}"),
    ]
    return f"blade/{agent}: " + "; ".join(parts)


def _ends(numbers: dict[str, Any]) -> list[int]:
    """1 and the largest k."""
    k = 1
    while f"blade/pass@{k + 1}" in numbers:
        k += 1
    return sorted({1, k})


def _part(numbers: dict[str, Any], name: str, rests_on: str) -> str:
    value = numbers[f"blade/{name}"]
    if value is None:
        return f"{name} unknown ({numbers[REASONS][f'blade/{name}']})"
    return f"{name} {score(value)} ({rests_on})"


def problem_lines(problems: Sequence[Problem], copies: int, most: int | None = MOST_PROBLEMS) -> list[str]:
    """Lines that could not be used, by place, and rows that stand twice; all of them when `most` is None."""
    shown = problems if most is None else problems[:most]
    lines = [f"{problem.source}: {problem.reason}" for problem in shown]
    if len(problems) > len(shown):
        lines.append(f"{len(problems) - len(shown)} more such lines; --verbose lists them")
    return lines + ([f"{plural(copies, 'row')} stood twice, byte for byte, and counted once"] if copies else [])
