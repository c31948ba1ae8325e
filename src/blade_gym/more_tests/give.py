"""What a solution gives for inputs, in a sandbox; and the statements that ask for the same."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from blade_gym.more_tests.draw import draw_inputs
from blade_gym.more_tests.seen import Input, read_tests
from blade_gym.sandbox.programs import ProgramLimits, output_of

LIMITS = ProgramLimits(seconds=120.0, megabytes=4096)
SPARE = 2
"""Inputs that are tried for each one that is wanted: some give no result."""
FEWEST_KNOWN = 3
"""Inputs that must be known before it is said what they have in common."""
_PROGRAM = Path(__file__).with_name("results.py")


def more_tests(program: str, entry: str, tests: str, *, most: int, seed: str) -> list[str]:
    """At most so many statements that the program passes, on inputs that its tests do not have; none where they are not read."""
    known = read_tests(tests)
    if known is None or len(known.inputs) < FEWEST_KNOWN:
        return []
    inputs = list(islice(draw_inputs(known.inputs, seed), SPARE * most))
    asked = json.dumps({"program": program, "entry": entry, "inputs": [repr(one) for one in inputs]})
    given = output_of(_PROGRAM.read_text(), asked, LIMITS)
    if given is None:
        return []
    pairs = zip(inputs, json.loads(given), strict=True)
    made = (_statement(entry, one, text, close=known.close) for one, text in pairs if text is not None)
    return [statement for statement in made if statement is not None][:most]


def _statement(entry: str, given: Input, text: str, *, close: bool) -> str | None:
    result = ast.literal_eval(text)
    call = f"{entry}({', '.join(map(repr, given))})"
    if isinstance(result, float):
        return f"assert abs({call} - {text}) <= 1e-6 * max(1.0, abs({text}))"
    if close or _computed(result, given):
        return None
    return f"assert {call} == {text}"


def _computed(result: Any, given: Input) -> bool:
    """Whether a result holds a fraction that is no part of the input: others may come out a little different."""
    known = set(_fractions(given))
    return any(number not in known for number in _fractions(result))


def _fractions(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from _fractions(inner)
    elif isinstance(value, dict):
        yield from _fractions([*value, *value.values()])
