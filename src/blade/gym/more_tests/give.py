"""What a solution gives for inputs, in a child process with limits; and the statements that ask for the same."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import FrameType
from typing import Any

from blade.gym.more_tests.draw import draw_inputs
from blade.gym.more_tests.seen import Input, read_tests
from blade.gym.sandbox.worker import OutOfBounds, Worker

SECONDS = 120.0
STEPS = 20_000
"""Lines that one call may run."""
LONGEST = 300
"""Characters of a result, written down."""
SPARE = 2
"""Inputs that are tried for each one that is wanted: some give no result."""
FEWEST_KNOWN = 3
"""Inputs that must be known before it is said what they have in common."""
_WORKER = Worker(__name__, seconds=SECONDS)


def more_tests(program: str, entry: str, tests: str, *, most: int, seed: str) -> list[str]:
    """At most so many statements that the program passes, on inputs that its tests do not have; none where they are not read."""
    known = read_tests(tests)
    if known is None or len(known.inputs) < FEWEST_KNOWN:
        return []
    inputs = list(islice(draw_inputs(known.inputs, seed), SPARE * most))
    try:
        given = _WORKER.ask("results", program, entry, [repr(one) for one in inputs])
    except (OutOfBounds, ValueError):
        return []
    pairs = zip(inputs, given, strict=True)
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


def results(program: str, entry: str, inputs: Sequence[str]) -> list[str | None]:
    """In the child: what the function gives for each input, as a literal; None where it raises, dawdles or gives no value."""
    scope: dict[str, Any] = {"__name__": "solution"}
    exec(compile(program, "<solution>", "exec"), scope)  # noqa: S102 - a published solution, behind the walls of the child
    return [_result(scope[entry], text) for text in inputs]


def _result(function: Any, text: str) -> str | None:
    said = []
    for _ in range(2):
        try:
            with _steps(STEPS):
                said.append(repr(function(*ast.literal_eval(text))))
        except (Exception, RecursionError):  # noqa: BLE001 - an input that it does not take is no test
            return None
    return said[0] if said[0] == said[1] and len(said[0]) <= LONGEST and _is_literal(said[0]) else None


def _is_literal(text: str) -> bool:
    """Whether a text is a value that every process writes in the same way: not one with a set, whose order is its own."""
    try:
        if any(isinstance(node, ast.Set) for node in ast.walk(ast.parse(text, mode="eval"))):
            return False
        return repr(ast.literal_eval(text)) == text
    except (ValueError, SyntaxError, RecursionError):
        return False


class _TooLong(Exception):
    """A call that takes more steps than a test should."""


@contextmanager
def _steps(most: int) -> Iterator[None]:
    """Lines are counted, not seconds: which inputs become tests must not depend on the machine."""
    left = most

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise _TooLong
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(None)
