"""The function calls of a response's output, as their names and the text of their arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blade_gym.answers import shown

MOST_SHOWN = 50
"""Calls that a row keeps."""
LONGEST_SHOWN = 2_000
"""Characters of arguments that a row keeps as an object; longer ones are kept as text that is cut."""

Call = tuple[str, str]
"""A name, and arguments that should be the JSON of an object."""


def calls_of(output: Iterable[Mapping[str, Any]]) -> list[Call]:
    """The calls that were made, in order; a call that is only written in a message is none."""
    return [
        (str(item.get("name")), _text(item.get("arguments"))) for item in output if item.get("type") == "function_call"
    ]


def shown_calls(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Calls as a row keeps them: not too many, not too long."""
    return [{"name": shown(name), "arguments": _shown(text)} for name, text in calls[:MOST_SHOWN]]


def call_item(name: str, arguments: Mapping[str, Any], index: int = 0) -> dict[str, Any]:
    """A call as an item of a response's output."""
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": f"call_{index}"}


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _shown(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse) if len(text) <= LONGEST_SHOWN else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) and _finite(value) else shown(text)


def _refuse(constant: str) -> None:
    # NaN and Infinity are not JSON, and a row must be.
    raise ValueError(constant)


def _finite(value: Any) -> bool:
    """Whether all numbers are finite: `1e999` is JSON and reads as infinity."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return all(map(_finite, value)) if isinstance(value, list) else not (isinstance(value, float) and math.isinf(value))
