"""The benchmark's own test code, in a process that the model's program cannot reach.

Names that the tests use and do not define are the program's: calls go to its process, and what comes back is plain data.
An object that has no plain form is only a name here. It can be called, indexed and iterated, which gives data again; it
is equal to nothing, so no method of the program decides a comparison.
"""

from __future__ import annotations

import ast
import builtins
import io
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from blade.gym.sandbox.inside.program import account, load
from blade.gym.sandbox.inside.values import NotPlain, Reference, read, written
from blade.gym.sandbox.inside.wire import Link


class ProgramError(Exception):
    """Something of the program's own that it raised; built-in exceptions are raised as themselves."""


class CannotJudge(BaseException):
    """A test that asks for what cannot cross to the program; no `except Exception` of a test takes it for a failure."""


class _Program:
    """The other side, as the tests see it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.last = ""
        """What the program raised last, with its line."""

    def ask(
        self, do: str, target: Mapping[str, Any], given: tuple[Any, ...] = (), named: Mapping[str, Any] = {}
    ) -> Any:
        question: dict[str, Any] = {"do": do, **target}
        try:
            if given:
                question["arguments"] = written(list(_as_references(given)))
            if named:
                question["named"] = written({name: _as_reference(one) for name, one in named.items()})
        except NotPlain as problem:
            raise CannotJudge(f"a test passes something to the program that is no plain value: {problem}") from None
        self._link.send({"ask": question})
        reply = self._link.receive()
        if reply is None:
            raise CannotJudge("the program is gone")
        if "missing" in reply:
            raise NameError(f"name {target.get('name')!r} is not defined")
        if "raised" in reply:
            self._raise(reply["raised"])
        changed = reply.get("arguments")
        if changed is not None:
            _follow(given, read(changed, self._object))
        return read(reply["value"], self._object)

    def _object(self, reference: Reference) -> _Remote:
        return _Remote(self, {"reference": reference.number}, reference.shown)

    def _raise(self, told: Mapping[str, Any]) -> None:
        self.last = str(told.get("account") or "")
        kind = getattr(builtins, str(told.get("type")), None)
        known = isinstance(kind, type) and issubclass(kind, Exception)
        problem = kind if known and kind is not None else ProgramError
        try:
            raised = problem(str(told.get("text") or ""))
        except TypeError:  # a few, such as UnicodeDecodeError, are made of more than a text
            raised = ProgramError(f"{told.get('type')}: {told.get('text')}")
        raise raised


class _Remote:
    """A name of the program's, or an object that stays there."""

    def __init__(self, program: _Program, target: Mapping[str, Any], shown: str) -> None:
        self._program, self._target, self._shown = program, target, shown

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._program.ask("call", self._target, given, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        inner = dict(self._target)
        if "attribute" in inner:  # one step at a time
            return getattr(self._program.ask("get", self._target), name)
        return _Remote(self._program, {**inner, "attribute": name}, f"{self._shown}.{name}")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._program.ask("items", self._target))

    def __len__(self) -> int:
        return int(self._program.ask("length", self._target))

    def __getitem__(self, key: Any) -> Any:
        return self._program.ask("item", self._target, (key,))

    def __bool__(self) -> bool:
        return bool(self._program.ask("truth", self._target))

    def __str__(self) -> str:
        return str(self._program.ask("text", self._target))

    def __repr__(self) -> str:
        return self._shown

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _as_references(values: tuple[Any, ...]) -> Iterator[Any]:
    return (_as_reference(value) for value in values)


def _as_reference(value: Any) -> Any:
    """A remote object as what the program knows it by, also within lists."""
    if isinstance(value, _Remote):
        if set(value._target) == {"reference"}:
            return Reference(value._target["reference"], value._shown)
        return _as_reference(value._program.ask("get", value._target))
    if type(value) in (list, tuple, set):
        return type(value)(_as_reference(inner) for inner in value)
    return value


def _follow(given: tuple[Any, ...], now: list[Any]) -> None:
    """Change the tests' own lists, dictionaries and sets as the program changed its copies."""
    for mine, theirs in zip(given, now, strict=False):
        if isinstance(mine, list | bytearray) and type(mine) is type(theirs):
            mine[:] = theirs
        elif isinstance(mine, dict | set) and type(mine) is type(theirs):
            mine.clear()
            mine.update(theirs)


def judge(job: Mapping[str, Any], link: Link) -> None:
    """Run the tests and say how they ended: passed, failed with a message, or not to be judged."""
    sys.stdin, sys.stdout = io.StringIO(""), io.StringIO()
    program = _Program(link)
    source = job["tests"]
    try:
        names = _helpers(job.get("setup") or "")
        # A program may be asked for under a built-in name, but must not put its own `len` into a test.
        theirs = (_names_used(source) - set(vars(builtins)) - set(names)) | set(job.get("names") or ())
        names |= {name: _Remote(program, {"name": name}, name) for name in theirs}
        load(source, "tests", names)
    except CannotJudge as problem:
        link.send({"cannot": str(problem)})
    except SyntaxError as problem:
        link.send({"cannot": f"the tests are no Python: {problem}"})
    except BaseException as problem:  # noqa: BLE001 - whatever a test raises, it has failed
        failed = account(problem, source)
        raised_there = program.last and not isinstance(problem, AssertionError)
        link.send(
            {"failed": f"{program.last}; in {failed}"[:600] if raised_there and program.last not in failed else failed}
        )
    else:
        link.send({"passed": True})


def _helpers(setup: str) -> dict[str, Any]:
    """What the task's own text defines: the tests use these as they were given, whatever the program made of them."""
    return (
        {name: value for name, value in load(setup, "setup", {}).items() if not name.startswith("__")} if setup else {}
    )


def _names_used(source: str) -> set[str]:
    """Every name that the tests read; what they define themselves takes the place of ours when they run."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
