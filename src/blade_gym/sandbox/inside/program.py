"""A model's program, in the process that is its own: run as a script, or loaded so that its functions can be called.

Nothing here judges. What the program prints, returns or raises goes out as data.
"""

from __future__ import annotations

import atexit
import builtins
import functools
import importlib
import io
import itertools
import json
import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from blade_gym.sandbox.inside.values import NotPlain, Reference, read, written
from blade_gym.sandbox.inside.wire import Link

FILE = "<solution>"
DEEP_RECURSION = 50_000
LONGEST_MESSAGE = 600
LONGEST_ARGUMENTS = 10_000
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
    vars(builtins).update(exit=sys.exit, quit=sys.exit)  # which the module `site` would define
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
    """Run the program as Python runs a file; its standard input and output are pipes. Sends what it raises."""
    sys.stdin = sys.__stdin__ = _text(io.BufferedReader(io.FileIO(0, "r")), "r")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _text(io.BufferedWriter(io.FileIO(1, "w"), 1 << 16), "w")  # type: ignore[misc]
    output = sys.stdout
    try:
        try:
            load(job["code"], "__main__", _names(job))
        finally:
            threading._shutdown()  # type: ignore[attr-defined]  # Python waits for threads before it ends
            atexit._run_exitfuncs()
    except SystemExit:
        pass  # judges look at what was printed, not at the code
    except BaseException as problem:  # noqa: BLE001 - whatever it was, it is the program's
        link.send({"raised": account(problem, job["code"])})
    for stream in (sys.stdout, output):
        try:
            stream.flush()
        except ValueError:
            pass  # the program closed it, which wrote everything
        except OSError:
            os._exit(1)


def _text(buffer: Any, mode: str) -> io.TextIOWrapper:
    made = io.TextIOWrapper(buffer, encoding="utf-8", errors="surrogateescape")
    made.mode = mode  # type: ignore[misc]  # as Python's own has it; usual templates of contests read it
    return made


class _Objects:
    """Objects that were named to the other side."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}

    def keep(self, value: Any) -> int:
        """The number of an object, the same one whenever it comes."""
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        return number

    def of(self, reference: Reference) -> Any:
        return self._kept[reference.number]


def serve(job: Mapping[str, Any], link: Link) -> None:
    """Load the program, then answer questions about its names until there are no more."""
    sys.stdin = _text(io.BytesIO(), "r")
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
    """The error as data: its built-in types from the nearest on, and its arguments if they are plain and short."""
    types = [kind.__name__ for kind in type(problem).__mro__ if kind.__module__ == "builtins"]
    try:
        arguments = written(list(problem.args))
        arguments = arguments if len(json.dumps(arguments)) < LONGEST_ARGUMENTS else None
    except (NotPlain, ValueError, TypeError, RecursionError):
        arguments = None
    about = {"types": types, "arguments": arguments, "text": str(problem)[:2000]}
    return {"raised": {**about, "name": type(problem).__name__, "account": account(problem, code)}}


def _answer(question: Mapping[str, Any], scope: dict[str, Any], objects: _Objects, code: str) -> dict[str, Any]:
    given: list[Any] = []
    try:
        target = _target(question, scope, objects)
        if target is None:
            return {"missing": True}
        given = read(question.get("arguments", []), objects.of)
        named = read(question.get("named", {"dict": []}), objects.of)
        result = _ACTIONS[question["do"]](target[0], given, named)
        changed = None if question.get("once") else _changed(given, question, objects)
        return {"value": written(result, objects.keep), "arguments": changed}
    except NotPlain as problem:
        return _raised(problem, code)
    except BaseException as problem:  # noqa: BLE001 - whatever it was, it is the program's
        return _raised(problem, code)


def _changed(given: list[Any], question: Mapping[str, Any], objects: _Objects) -> list[Any] | None:
    """The arguments after the call, where the program changed one in place."""
    if not any(isinstance(value, list | dict | set | bytearray | deque) for value in given):
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
