"""The calls that were due are made, and no others; in any order, with any of the values that the key accepts.

Calls are taken from the output's items; where there are none, from JSON in the last message.

Row
    `ground_truth`: a list of `{tool: {argument: [accepted values]}}`, where an accepted `""` makes the argument optional;
    or of `{name, arguments}`. An empty list means that no call is due.

Fields
    `predicted_calls`, `failure_reason`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from blade.gym.answers import fenced, last_message, message
from blade.gym.environment import Row, Verdict
from blade.gym.single_turn import Config

MOST_CALLS = 50
LONGEST = 100_000
_TOOL_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_NOISE = re.compile(r"[\s,./\-_*^'\"]")

Call = tuple[str, Mapping[str, Any]]
Accepted = tuple[str, Mapping[str, Sequence[Any]]]


def gold(row: Row) -> Sequence[Row]:
    """Calls with the first value that is accepted for each argument."""
    calls = [
        (name, {argument: _first(values) for argument, values in accepted.items() if _first(values) != ""})
        for name, accepted in due(row["ground_truth"])
    ]
    if not calls:
        return (message("None of the tools can help with this."),)
    return tuple(
        {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": f"call_{place}"}
        for place, (name, arguments) in enumerate(calls)
    )


def verify(row: Row, output: Sequence[Row], config: Config) -> Verdict:
    """1 when calls and key agree, else 0."""
    made, unread = predicted(output)
    reason = unread or _wrong(list(due(row["ground_truth"])), made)
    shown = [{"name": name, "arguments": dict(arguments)} for name, arguments in made]
    return Verdict(reward=float(reason is None), fields={"predicted_calls": shown, "failure_reason": reason})


def due(key: object) -> Sequence[Accepted]:
    """The calls of a key, with the values that each argument may have."""
    found: list[Accepted] = []
    for one in key if isinstance(key, list) else []:
        if "name" in one and "arguments" in one:
            given = one["arguments"]
            arguments = json.loads(given) if isinstance(given, str) else given
            found.append((str(one["name"]), {name: [value] for name, value in arguments.items()}))
        else:
            found += [(str(name), accepted) for name, accepted in one.items()]
    return found


def predicted(output: Sequence[Row]) -> tuple[list[Call], str | None]:
    """The calls that were made, and why one of them could not be read."""
    made: list[Call] = []
    for item in islice((item for item in output if item.get("type") == "function_call"), MOST_CALLS + 1):
        arguments = _object(item.get("arguments"))
        if arguments is None:
            return made, f"the arguments of {item.get('name')} are no JSON object"
        made.append((str(item.get("name")), arguments))
    return (made or _written(last_message(output))), None


def _written(text: str) -> list[Call]:
    """Calls that are written as JSON in a message."""
    bodies = _TOOL_CALL.findall(text[:LONGEST]) or [fenced(text[:LONGEST], "json") or text[:LONGEST]]
    found: list[Call] = []
    for body in bodies[:MOST_CALLS]:
        try:
            value = json.loads(body.strip())
        except (ValueError, RecursionError):
            continue
        for one in value if isinstance(value, list) else [value]:
            given = one.get("arguments", one.get("parameters")) if isinstance(one, dict) else None
            arguments = _object(given)
            if isinstance(one, dict) and isinstance(one.get("name"), str) and arguments is not None:
                found.append((one["name"], arguments))
    return found


def _object(given: object) -> Mapping[str, Any] | None:
    if isinstance(given, str):
        try:
            given = json.loads(given) if len(given) <= LONGEST else None
        except (ValueError, RecursionError):
            return None
    return given if isinstance(given, Mapping) else None


def _wrong(wanted: list[Accepted], made: list[Call]) -> str | None:
    if not wanted:
        return None if not made else "a call was made where none is due"
    if not made:
        return "no call was made"
    if len(made) != len(wanted):
        return f"another number of calls: {len(made)}, not {len(wanted)}"
    left = list(made)
    for name, accepted in wanted:
        fitting = next((call for call in left if _fault(name, accepted, call) is None), None)
        if fitting is None:
            return _nearest_fault(name, accepted, left)
        left.remove(fitting)
    return None


def _nearest_fault(name: str, accepted: Mapping[str, Sequence[Any]], left: list[Call]) -> str:
    same = [call for call in left if _plain(call[0]) == _plain(name)]
    fault = _fault(name, accepted, same[0]) if same else None
    return fault or f"{name} was not called"


def _fault(name: str, accepted: Mapping[str, Sequence[Any]], call: Call) -> str | None:
    """Why a call is not the one that is due; None when it is."""
    if _plain(call[0]) != _plain(name):
        return f"{name} was not called"
    for argument, values in accepted.items():
        if argument not in call[1]:
            if "" not in values:
                return f"{name} lacks {argument}"
        elif not any(_accepts(value, call[1][argument]) for value in (values or [values])):
            return f"{name} has another {argument}"
    unknown = next((argument for argument in call[1] if argument not in accepted), None)
    return f"{name} has an argument that is not due: {unknown}" if unknown is not None else None


def _plain(name: str) -> str:
    """A tool's name as interfaces that allow no dots write it."""
    return name.replace(".", "_")


def _accepts(value: Any, given: Any) -> bool:
    if isinstance(value, bool) or isinstance(given, bool):
        return value is given
    if isinstance(value, int | float) and isinstance(given, int | float):
        return value == given
    if isinstance(value, str) and isinstance(given, str):
        return _NOISE.sub("", value).casefold() == _NOISE.sub("", given).casefold()
    if isinstance(value, list) and isinstance(given, list):
        return len(value) == len(given) and all(map(_accepts, value, given))
    if isinstance(value, Mapping) and isinstance(given, Mapping):
        return all(_accepts_inside(value.get(name), given.get(name)) for name in (*value, *given))
    return bool(value == given)


def _accepts_inside(values: Any, given: Any) -> bool:
    """Inside an object, the key lists accepted values again, or gives one."""
    listed = values if isinstance(values, list) else [values]
    if given is None and "" in listed:
        return True
    return given is not None and (any(_accepts(one, given) for one in listed) or _accepts(values, given))


def _first(values: Any) -> Any:
    """The first accepted value; objects inside list theirs again."""
    value = values[0] if isinstance(values, list) and values else values
    if isinstance(value, Mapping):
        return {name: _first(inner) for name, inner in value.items() if _first(inner) != ""}
    return value
