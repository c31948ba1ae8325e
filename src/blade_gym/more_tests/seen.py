"""The inputs that a function's own tests use, and whether they compare results exactly.

Read from `def check(candidate)` without running it. Tests in a form that is not known here give nothing: it could not be
told what a result must be like.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Input = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the tests show."""

    inputs: tuple[Input, ...]
    """Arguments of each call, each once, in order."""
    close: bool = False
    """Whether results are compared as numbers that may differ by a little."""


def read_tests(source: str) -> Seen | None:
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
    return Seen(inputs=tuple(found.values()), close=close) if found else None


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
