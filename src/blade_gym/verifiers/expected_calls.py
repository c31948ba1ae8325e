"""The expected calls are made, in any order, and as many calls as are expected.

Names and the expected arguments must be equal; further arguments of a call are not looked at. Arguments that are not a
JSON object count as none. Only calls that the response holds as `function_call` items count.

Row
    `expected_answers`: a list of `{name, arguments}`, the arguments an object or its JSON. An empty list means that no call
    may be made.

Fields
    `num_expected`, `num_predicted`, `num_correct`, `predicted_calls`, `failure_reason`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from blade_gym.answers import message
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.single_turn import Config
from blade_gym.verifier_kit.calls import call_item, calls_of, shown_calls


def gold(row: Row) -> Sequence[Row]:
    """The expected calls."""
    expected = _expected(row)
    calls = [call_item(call["name"], _object(call.get("arguments")), index) for index, call in enumerate(expected)]
    return tuple(calls) or (message("None of the tools can help with this."),)


def verify(row: Row, output: Sequence[Row], config: Config) -> Verdict:
    """1 when each expected call is matched by one call and none is left over, else 0."""
    expected, calls = _expected(row), calls_of(output)
    correct = _matched(expected, [(name, _object(text)) for name, text in calls])
    reason = _reason(len(expected), len(calls), correct)
    fields = {
        "num_expected": len(expected),
        "num_predicted": len(calls),
        "num_correct": correct,
        "predicted_calls": shown_calls(calls),
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)


def _expected(row: Row) -> Sequence[Row]:
    expected = row.get("expected_answers")
    if not isinstance(expected, list) or not all(isinstance(call, Mapping) and call.get("name") for call in expected):
        raise NoVerdict("expected_answers is not a list of calls with a name", failure_class="skipped", terminal=True)
    return expected


def _matched(expected: Sequence[Row], calls: list[tuple[str, Mapping[str, Any]]]) -> int:
    """How many of the expected calls are found, each in another call, from the first on."""
    left, found = list(calls), 0
    for wanted in expected:
        match = next((index for index, call in enumerate(left) if _matches(wanted, call)), None)
        if match is not None:
            del left[match]
            found += 1
    return found


def _matches(wanted: Row, call: tuple[str, Mapping[str, Any]]) -> bool:
    name, given = call
    return name == wanted.get("name") and all(
        argument in given and given[argument] == value for argument, value in _object(wanted.get("arguments")).items()
    )


def _object(arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    return arguments if isinstance(arguments, Mapping) else {}


def _reason(expected: int, made: int, correct: int) -> str | None:
    if made == expected == correct:
        return None
    if not made:
        return "no call was made"
    if not expected:
        return "a call was made where none is expected"
    return "an expected call is missing or differs" if correct < expected else "more calls were made than expected"
