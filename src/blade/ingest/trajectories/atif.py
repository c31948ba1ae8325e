"""Trajectories in the Agent Trajectory Interchange Format, versions 1.0 to 1.7, with those of sub-agents in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from blade.ingest.folder_files import json_object
from blade.ingest.trajectories.items import Item, call, message, reasoning, result, text_of

Load = Callable[[str], Mapping[str, Any]]
"""The trajectory of a file that another one names; empty where there is none."""

_ANNOUNCES = re.compile(r"Executed \S+(?: \S+)?")
"""A message that the exporter makes up for a call without words."""
_IS_ERROR = re.compile(r"(?:^|_)is_error$")
_DEEPEST = 8


def is_trajectory(value: Mapping[str, Any]) -> bool:
    """Whether a document is a trajectory of this format: by its version, or by steps that have a source."""
    if str(value.get("schema_version", "")).startswith("ATIF"):
        return True
    steps = value.get("steps")
    return isinstance(steps, list) and bool(steps) and {"source", "step_id"} <= json_object(steps[0]).keys()


def items_of(trajectory: Mapping[str, Any], load: Load = lambda name: {}) -> list[Item]:
    """What the agent and its sub-agents did; the prompt is left out."""
    steps = _steps(trajectory)
    first = next((place for place, step in enumerate(steps) if step.get("source") == "agent"), len(steps))
    return list(_items(steps[first:], _Family(trajectory, load), None, 0))


def prompt_of(trajectory: Mapping[str, Any]) -> list[Item]:
    """The messages before the agent's first step."""
    prompt = []
    for step in _steps(trajectory):
        if step.get("source") == "agent":
            break
        role = "system" if step.get("source") == "system" else "user"
        prompt.append(message(role, text_of(step.get("message"))))
    return prompt


def _steps(trajectory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps in the order of their stamps: exporters append calls without a result at the end."""
    listed = trajectory.get("steps")
    steps = [json_object(step) for step in listed] if isinstance(listed, list) else []
    stamps = [step.get("timestamp") for step in steps]
    # Texts of one length are written alike, so that they sort as the times do.
    if len({len(stamp) if isinstance(stamp, str) else 0 for stamp in stamps}) == 1 and isinstance(stamps[0], str):
        return sorted(steps, key=lambda step: str(step["timestamp"]))
    return steps


class _Family:
    """The sub-agents of a trajectory, by the id of their session or trajectory, or else by their file."""

    def __init__(self, trajectory: Mapping[str, Any], load: Load) -> None:
        listed = trajectory.get("subagent_trajectories")
        self.load = load
        self.by_id: dict[str, Mapping[str, Any]] = {}
        for child in map(json_object, listed if isinstance(listed, list) else []):
            names = (child.get("trajectory_id"), child.get("session_id"))
            self.by_id |= {name: child for name in names if isinstance(name, str)}

    def of(self, references: object) -> Iterator[Mapping[str, Any]]:
        for reference in map(json_object, references if isinstance(references, list) else [references]):
            names = [reference.get(name) for name in ("trajectory_id", "session_id")]
            known = next((self.by_id[name] for name in names if name in self.by_id), None)
            path = reference.get("trajectory_path")
            found = known or (self.load(path) if isinstance(path, str) else {})
            if found:
                yield found


def _items(steps: Sequence[dict[str, Any]], family: _Family, actor: str | None, depth: int) -> Iterator[Item]:
    for place, step in enumerate(steps):
        source, calls = step.get("source"), step.get("tool_calls")
        calls = [json_object(one) for one in calls] if isinstance(calls, list) else []
        if thought := text_of(step.get("reasoning_content")):
            yield reasoning(thought, actor)
        text = text_of(step.get("message"))
        last = source == "agent" and place == len(steps) - 1 and "message" in step and not calls
        if (text or last) and not (calls and _ANNOUNCES.fullmatch(text)):  # an empty last turn says how it ended
            yield message({"agent": "assistant", "system": "system"}.get(str(source), "user"), text, actor)
        for one in calls:
            name = str(one.get("function_name") or one.get("name") or "")
            yield call(name, one.get("arguments"), one.get("tool_call_id"), actor)
        results = json_object(step.get("observation")).get("results")
        results = [json_object(one) for one in results] if isinstance(results, list) else []
        for one in results:
            # Of several results a flag of the step does not say which failed.
            about = (one, one.get("extra"), step.get("extra") if len(results) == 1 else None)
            yield from _observed(one, family, actor, depth, any(map(_says_failed, about)))


def _says_failed(about: object) -> bool:
    """Whether an exporter kept that a tool reported an error."""
    return any(value is True and _IS_ERROR.search(name) for name, value in json_object(about).items())


def _observed(
    observed: Mapping[str, Any], family: _Family, actor: str | None, depth: int, failed: bool
) -> Iterator[Item]:
    """What the sub-agent did that a call started, then the result of the call."""
    for child in family.of(observed.get("subagent_trajectory_ref")) if depth < _DEEPEST else ():
        name = json_object(child.get("agent")).get("name")
        yield from _items(_steps(child), family, str(name or "subagent"), depth + 1)
    yield result(text_of(observed.get("content")), observed.get("source_call_id"), failed=failed, actor=actor)
