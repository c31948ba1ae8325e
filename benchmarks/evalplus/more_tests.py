"""More tests for a function, from its own: what its solution gives for new inputs, and statements that ask for the same.

The known tests are read from `def check(candidate)` without running it. Tests in a form that is not known here give nothing: it
could not be told what a result must be like.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from blade_gym.sandbox.programs import ProgramLimits, output_of

from .new_inputs import Input, draw_inputs

LIMITS = ProgramLimits(seconds=120.0, megabytes=4096)
SPARE = 2
"""Inputs that are tried for each one that is wanted: some give no result."""
FEWEST_KNOWN = 3
"""Inputs that must be known before it is said what they have in common."""
_PROGRAM = Path(__file__).with_name("solution_results.py")


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


class KnownTests(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests show."""

    inputs: tuple[Input, ...]
    """Arguments of each call, each once, in order."""
    close: bool = False
    """Whether results are compared as numbers that may differ by a little."""


def read_tests(source: str) -> KnownTests | None:
    """What the tests show; None where one of them cannot be read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if len(checks) != 1 or len(checks[0].args.args) != 1:
        return None
    name = checks[0].args.args[0].arg
    found: dict[str, Input] = {}
    close = False
    for statement in checks[0].body:
        calls = list(_calls(statement, name))
        if not calls:
            continue
        form = _form(statement, calls[0]) if len(calls) == 1 else None
        given = _arguments(calls[0])
        if form is None or given is None:
            return None
        close |= form == "close"
        found.setdefault(repr(given), given)
    return KnownTests(inputs=tuple(found.values()), close=close) if found else None


def _calls(node: ast.AST, name: str) -> Iterator[ast.Call]:
    for inside in ast.walk(node):
        if isinstance(inside, ast.Call) and isinstance(inside.func, ast.Name) and inside.func.id == name:
            yield inside


def _form(statement: ast.stmt, call: ast.Call) -> str | None:
    """`equal` for `f(x) == y`, `f(x)` and `not f(x)`; `close` for `abs(f(x) - y) < z`; None for anything else."""
    if not isinstance(statement, ast.Assert):
        return None
    said = statement.test
    if isinstance(said, ast.UnaryOp) and isinstance(said.op, ast.Not):
        said = said.operand
    if said is call:
        return "equal"
    if not isinstance(said, ast.Compare) or len(said.ops) != 1:
        return None
    if isinstance(said.ops[0], ast.Eq | ast.Is):
        other = said.comparators[0] if said.left is call else said.left
        return "equal" if call in (said.left, said.comparators[0]) and _literal(other) is not None else None
    distance = isinstance(said.left, ast.Call) and ast.unparse(said.left.func) in ("abs", "math.fabs")
    return "close" if distance and isinstance(said.ops[0], ast.Lt | ast.LtE) else None


def _arguments(call: ast.Call) -> Input | None:
    if call.keywords:
        return None
    read = [_literal(node) for node in call.args]
    return tuple(one[0] for one in read if one) if all(read) else None


def _literal(node: ast.expr) -> tuple[Any] | None:
    """The value in a tuple of its own, since None is one."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
