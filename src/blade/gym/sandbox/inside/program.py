"""A model's program, in the process that is its own: run as a script, or loaded so that its functions can be called.

Nothing here judges. What the program prints, returns or raises goes out as data.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import io
import itertools
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from blade.gym.sandbox.inside.values import NotPlain, Reference, read, written
from blade.gym.sandbox.inside.wire import Link

FILE = "<solution>"
DEEP_RECURSION = 50_000
LONGEST_MESSAGE = 600
MOST_ITEMS = 1_000_000
# Programming contests let programs use these without importing them: first every public name, then the modules.
_CONTEST_MODULES = [
    "string",
    "re",
    "datetime",
    "collections",
    "heapq",
    "bisect",
    "copy",
    "math",
    "random",
    "statistics",
    "itertools",
    "functools",
    "operator",
    "io",
    "sys",
    "json",
    "builtins",
    "typing",
]


@functools.cache
def contest_names() -> Mapping[str, Any]:
    """The names that programming contests provide; later modules win over earlier ones."""
    found: dict[str, Any] = {}
    modules = {name: importlib.import_module(name) for name in _CONTEST_MODULES}
    for module in modules.values():
        public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        found |= {name: getattr(module, name) for name in public}
    return found | {name: module for name, module in modules.items() if name not in ("builtins", "typing")}


def load(code: str, name: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Run a program from top to bottom; returns its global names."""
    module = ModuleType(name)
    sys.modules[name] = module
    scope = vars(module)
    scope |= {**names, "__builtins__": builtins, "__name__": name}
    exec(compile(code, FILE, "exec", dont_inherit=True), scope)  # noqa: S102 - what this process is for
    return scope


def account(problem: BaseException, code: str) -> str:
    """The error, and the line of the program that raised it."""
    frames = traceback.extract_tb(problem.__traceback__)
    numbers = [frame.lineno for frame in frames if frame.filename == FILE and frame.lineno]
    lines = code.split("\n")
    line = lines[numbers[-1] - 1].strip() if numbers and numbers[-1] <= len(lines) else ""
    message = f"{type(problem).__name__}: {problem}".rstrip(": ")
    return (f"{message} at `{line[:200]}`" if line else message)[:LONGEST_MESSAGE]


def _names(job: Mapping[str, Any]) -> dict[str, Any]:
    """What a program may use without importing it."""
    if not job.get("contest"):
        return {}
    sys.setrecursionlimit(DEEP_RECURSION)
    return {**contest_names(), "stdin": sys.stdin, "stdout": sys.stdout}


def script(job: Mapping[str, Any], link: Link) -> None:
    """Run the program as Python runs a file; its standard input and output are pipes. Raises what it raises."""
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r")), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(1, "w"), 1 << 16), encoding="utf-8", errors="surrogateescape"
    )
    try:
        load(job["code"], "__main__", _names(job))
        threading._shutdown()  # type: ignore[attr-defined]  # Python waits for threads before it ends
    except SystemExit:
        pass  # judges look at what was printed, not at the code
    except BaseException as problem:  # noqa: BLE001 - whatever it was, it is the program's
        link.send({"raised": account(problem, job["code"])})
    _flush()


def _flush() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os._exit(1)


class _Objects:
    """Objects that were named to the other side."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def keep(self, value: Any) -> int:
        self._kept.append(value)
        return len(self._kept) - 1

    def of(self, reference: Reference) -> Any:
        return self._kept[reference.number]


def serve(job: Mapping[str, Any], link: Link) -> None:
    """Load the program, then answer questions about its names until there are no more."""
    sys.stdin = io.StringIO("")
    code = job["code"]
    try:
        scope = load(code, "solution", _names(job))
    except BaseException as problem:  # noqa: BLE001 - whatever it was, it is the program's
        link.send(_raised(problem, code))
        return
    objects = _Objects()
    link.send({"value": None})
    while (question := link.receive()) is not None:
        link.send(_answer(question, scope, objects, code))


def _raised(problem: BaseException, code: str) -> dict[str, Any]:
    return {"raised": {"type": type(problem).__name__, "text": str(problem)[:2000], "account": account(problem, code)}}


def _answer(question: Mapping[str, Any], scope: dict[str, Any], objects: _Objects, code: str) -> dict[str, Any]:
    given: list[Any] = []
    try:
        target = _target(question, scope, objects)
        if target is None:
            return {"missing": True}
        given = read(question.get("arguments", []), objects.of)
        named = read(question.get("named", {"dict": []}), objects.of)
        result = _ACTIONS[question["do"]](target[0], given, named)
        return {"value": written(result, objects.keep), "arguments": _changed(given, question, objects)}
    except NotPlain as problem:
        return {"raised": {"type": "ValueError", "text": str(problem), "account": str(problem)}}
    except BaseException as problem:  # noqa: BLE001 - whatever it was, it is the program's
        return _raised(problem, code)


def _changed(given: list[Any], question: Mapping[str, Any], objects: _Objects) -> list[Any] | None:
    """The arguments after the call, where the program changed one in place."""
    if not any(isinstance(value, list | dict | set | bytearray) for value in given):
        return None
    now = written(given, objects.keep)
    return now if now != question.get("arguments") else None


def _target(question: Mapping[str, Any], scope: dict[str, Any], objects: _Objects) -> tuple[Any] | None:
    """The object that a question is about, in a tuple of its own; None where the program has none of that name."""
    if "reference" in question:
        value = objects.of(Reference(int(question["reference"]), ""))
    elif question.get("method_of") in scope:
        value = getattr(scope[question["method_of"]](), question["name"], None)
        return None if value is None else (value,)
    elif question["name"] in scope:
        value = scope[question["name"]]
    else:
        return None
    return (getattr(value, question["attribute"]) if "attribute" in question else value,)


def _items(value: Any, _: Any, __: Any) -> list[Any]:
    found = []
    for item in value:
        found.append(item)
        if len(found) > MOST_ITEMS:
            raise NotPlain("too many items")
    return found


_ACTIONS: Mapping[str, Any] = {
    "call": lambda value, given, named: value(*given, **named),
    "get": lambda value, given, named: value,
    "items": _items,
    "next": lambda value, given, named: list(itertools.islice(value, 1)),
    "length": lambda value, given, named: len(value),
    "item": lambda value, given, named: value[given[0]],
    "truth": lambda value, given, named: bool(value),
    "text": lambda value, given, named: str(value),
}
