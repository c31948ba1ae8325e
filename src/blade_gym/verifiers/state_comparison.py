"""The state that a rollout left behind is the state that its key leaves behind.

Environments with tools call `judge` with two states; a task whose answer is a state as JSON goes through `verify`.

Row
    `expected_state`: collections by name, each a list of records or an object.

Fields
    `state_differences`: at most 20 places, each with what is expected and what was found. `failure_reason`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from blade_gym.answers import fenced
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config

MOST = 20
LONGEST_VALUE = 120
DEEPEST = 50
LONGEST = 1 << 20


def gold(row: Row) -> str:
    """The expected state as JSON."""
    return json.dumps(row["expected_state"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when the message is the expected state, else 0."""
    inside = fenced(text, "json")
    written = (inside if inside is not None else text).strip()
    try:
        found = json.loads(written) if len(written) <= LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if found is None:
        return Verdict(reward=0.0, fields={"state_differences": [], "failure_reason": "the message holds no state"})
    return judge(row["expected_state"], found)


def judge(expected: Any, found: Any) -> Verdict:
    """1 for equal states, else 0, with where they differ."""
    places = list(islice(differences(expected, found), MOST))
    fields = {"state_differences": places, "failure_reason": _reason(places)}
    return Verdict(reward=float(not places), fields=fields)


def _reason(places: list[dict[str, Any]]) -> str | None:
    if not places:
        return None
    kinds = {place["kind"] for place in places}
    if kinds == {"missing"}:
        return "part of what was due is missing from the state"
    if kinds == {"extra"}:
        return "the state holds more than was due"
    return (
        "the state has other values" if kinds == {"changed"} else "the state lacks what was due and holds what was not"
    )


def differences(expected: Any, found: Any, path: str = "", depth: int = 0) -> Iterator[dict[str, Any]]:
    """Where two states differ, in the order of the expected one; kinds are `missing`, `extra` and `changed`."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping) and depth < DEEPEST:
        for name in (*expected, *(name for name in found if name not in expected)):
            inner = f"{path}.{name}" if path else str(name)
            if name not in found:
                yield _place(inner, "missing", expected[name], None)
            elif name not in expected:
                yield _place(inner, "extra", None, found[name])
            else:
                yield from differences(expected[name], found[name], inner, depth + 1)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found) and depth < DEEPEST:
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{path}.{place}", depth + 1)
    elif expected != found:
        yield _place(path, "changed", expected, found)


def _place(path: str, kind: str, expected: Any, found: Any) -> dict[str, Any]:
    return {"place": path, "kind": kind, "expected": _brief(expected), "found": _brief(found)}


def _brief(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + " ..."
