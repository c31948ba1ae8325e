"""The benchmark's own tests, in a process that the model's program cannot reach.

Names that the tests use and do not define are the program's: calls go to its process, and what comes back is plain data.
An object that has no plain form is only a stand-in here. It can be called, indexed and iterated, which gives data again;
it is equal to nothing, so no method of the program's decides a comparison.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import io
import json
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from blade.gym.sandbox.inside.program import FILE, account, load
from blade.gym.sandbox.inside.values import NotPlain, Reference, read, written
from blade.gym.sandbox.inside.wire import Link

LONGEST_SHOWN = 100


class ProgramError(Exception):
    """An error of the program's own; built-in exceptions are raised as themselves."""


class CannotJudge(BaseException):
    """A test that needs what cannot cross to the program; no `except Exception` of a test takes it for a failure."""


class _Program:
    """The program, as the tests see it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.last = ""
        """The last error that the program raised, with its line."""

    def loaded(self) -> str | None:
        """Wait until the program has been loaded; the error that it raised meanwhile, if any."""
        raised = self._reply().get("raised")
        return None if raised is None else str(raised.get("account") if isinstance(raised, dict) else raised)

    def _reply(self) -> dict[str, Any]:
        """The next message of the program's, which may have written anything there."""
        try:
            reply = self._link.receive()
        except (ValueError, RecursionError):
            reply = None
        unreadable = {"type": "ValueError", "text": "", "account": "the program's reply cannot be read"}
        return reply if isinstance(reply, dict) else {"raised": unreadable}

    def ask(
        self, do: str, target: Mapping[str, Any], given: tuple[Any, ...] = (), named: Mapping[str, Any] = {}
    ) -> Any:
        """The program's answer as plain data; raises what it raised, and KeyError for a name that it has not."""
        question: dict[str, Any] = {"do": do, **target}
        try:
            if given:
                question["arguments"] = written([_as_reference(value) for value in given])
            if named:
                question["named"] = written({name: _as_reference(value) for name, value in named.items()})
        except NotPlain as problem:
            raise CannotJudge(f"a test passes something to the program that is not a plain value: {problem}") from None
        self._link.send(question)
        reply = self._reply()
        if "missing" in reply:
            raise KeyError(target.get("name"))
        if "raised" in reply:
            self._raise(reply["raised"])
        changed = reply.get("arguments")
        if changed is not None:
            _follow(given, read(changed, self._object))
        return read(reply.get("value"), self._object)

    def _object(self, reference: Reference) -> _Remote:
        return _Remote(self, reference)

    def _raise(self, error: Any) -> None:
        error = error if isinstance(error, dict) else {}
        self.last = str(error.get("account") or "")
        kind = getattr(builtins, str(error.get("type")), None)
        text = str(error.get("text") or "")
        # A StopIteration of the program's would end a loop of the tests' before its time.
        if isinstance(kind, type) and issubclass(kind, Exception) and kind not in (StopIteration, StopAsyncIteration):
            try:
                raised: Exception = kind(text)
            except TypeError:  # a few, such as UnicodeDecodeError, need more than a text
                raised = ProgramError(f"{error.get('type')}: {text}")
        else:
            raised = ProgramError(f"{error.get('type')}: {text}")
        raise raised


class _Remote:
    """An object that stays with the program."""

    def __init__(self, program: _Program, reference: Reference) -> None:
        self._program, self._reference = program, reference

    def _ask(self, do: str, *given: Any, **target: Any) -> Any:
        return self._program.ask(do, {"reference": self._reference.number, **target}, given)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._program.ask("call", {"reference": self._reference.number}, given, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask("get", attribute=name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ask("items"))

    def __next__(self) -> Any:
        item = self._ask("next")
        if not item:
            raise StopIteration
        return item[0]

    def __len__(self) -> int:
        return int(self._ask("length"))

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key)

    def __bool__(self) -> bool:
        return bool(self._ask("truth"))

    def __str__(self) -> str:
        return str(self._ask("text"))

    def __repr__(self) -> str:
        return self._reference.shown

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _as_reference(value: Any) -> Any:
    """A stand-in as the program knows its object, also within collections."""
    if isinstance(value, _Remote):
        return value._reference
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(_as_reference(inner) for inner in value)
    if type(value) is dict:
        return {_as_reference(key): _as_reference(inner) for key, inner in value.items()}
    return value


def _follow(given: tuple[Any, ...], now: list[Any]) -> None:
    """Change the tests' own lists, dictionaries and sets as the program changed its copies."""
    for own, changed in zip(given, now, strict=False):
        if isinstance(own, list | bytearray) and type(own) is type(changed):
            own[:] = changed
        elif isinstance(own, dict | set) and type(own) is type(changed):
            own.clear()
            own.update(changed)


class _Names(dict[str, Any]):
    """The global names of the tests; what they do not define themselves is looked up in the program."""

    def __init__(self, own: Mapping[str, Any], program: _Program, remote: set[str]) -> None:
        super().__init__(own)
        self._program, self._remote = program, remote
        self._objects: dict[str, _Remote] = {}

    def __missing__(self, name: str) -> Any:
        if name not in self._remote:
            raise KeyError(name)
        if name not in self._objects:
            value = self._program.ask("get", {"name": name})
            if not isinstance(value, _Remote):
                return value  # it may be another one the next time
            self._objects[name] = value
        return self._objects[name]


def judge(job: Mapping[str, Any], link: Link) -> None:
    """Run the tests and send how they ended: passed, failed with a message, or not to be judged."""
    sys.stdin, sys.stdout = io.StringIO(""), io.StringIO()
    program, source = _Program(link), job["tests"]
    try:
        names = _names(job, program)
        problem = program.loaded()
        if problem is not None:
            _send_verdict(link, failed=problem)
            return
        exec(compile(source, FILE, "exec", dont_inherit=True), names)  # noqa: S102 - the benchmark's own tests
    except CannotJudge as problem:
        _send_verdict(link, cannot=str(problem))
    except SyntaxError as problem:
        _send_verdict(link, cannot=f"the tests are not Python: {problem}")
    except BaseException as problem:  # noqa: BLE001 - whatever a test raises, it has failed
        failed = account(problem, source)
        of_program = program.last and not isinstance(problem, AssertionError) and program.last not in failed
        _send_verdict(link, failed=f"{program.last}; in {failed}" if of_program else failed)
    else:
        _send_verdict(link, passed=True)


def _send_verdict(link: Link, **verdict: Any) -> None:
    """The one message that is not a question."""
    link.send({"verdict": verdict})


def _names(job: Mapping[str, Any], program: _Program) -> _Names:
    """What the tests can use: the task's own helpers, standard modules, and the program's names."""
    tree, asked = ast.parse(job["tests"]), set(job.get("names") or ())
    own: dict[str, Any] = {"__builtins__": builtins, "__name__": "tests"}
    sys.modules["tests"] = ModuleType("tests")
    if job.get("setup"):
        helpers = load(job["setup"], "setup", {})
        own |= {name: value for name, value in helpers.items() if not name.startswith("__") and name not in asked}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in _modules(tree) - asked - set(own):
        own[name] = importlib.import_module(name)
    # The program must not put its own `len` into a test, unless the task asks for a function of that name.
    return _Names(own, program, (used - set(vars(builtins)) - set(own)) | asked)


def _modules(tree: ast.Module) -> set[str]:
    """Standard modules and numpy that are used as `name.something` only: the tests mean the module."""
    bases = {
        node.value.id for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return {name for name in bases - called if name in sys.stdlib_module_names or name == "numpy"}


def compare(job: Mapping[str, Any], link: Link) -> None:
    """Call a function of the program with JSON arguments, and compare what it returns with the expected JSON."""
    program = _Program(link)
    target = {"name": job["function"], "method_of": job.get("method_of")}
    try:
        failed = program.loaded()
        if failed is None:
            failed = _difference(program.ask("call", target, tuple(job["input"])), job["output"])
    except KeyError:
        failed = program.last or f"there is no function {job['function']}"
    except NotPlain as problem:
        failed = f"wrong result: it cannot be read: {problem}"
    except (Exception, MemoryError, RecursionError) as problem:  # noqa: BLE001 - the program's, whatever it is
        failed = program.last or f"wrong result: {type(problem).__name__} when it was compared"
    _send_verdict(link, **({"passed": True} if failed is None else {"failed": failed}))


def _difference(value: Any, expected: Any) -> str | None:
    value = list(value) if isinstance(value, tuple) else value
    if _equal(value, expected) or _same_json(value, expected) or _close(value, expected):
        return None
    return f"wrong result: expected {brief(expected)}, got {brief(value)}"


def _equal(value: Any, expected: Any) -> bool:
    try:
        return bool(value == expected)
    except (ValueError, ArithmeticError):  # an array compares item by item, a signaling NaN not at all
        return False


def _same_json(value: Any, expected: Any) -> bool:
    """JSON has no tuples, and its keys are texts: a function may return what a file of tests cannot write."""
    try:
        return json.dumps(value) == json.dumps(expected)
    except (TypeError, ValueError, RecursionError):
        return False


def _close(value: Any, expected: Any) -> bool:
    """Two finite numbers, also written as texts, that differ by as little as numpy's `allclose` allows."""
    if not isinstance(value, int | float | str):
        return False
    try:
        given, wanted = float(value), float(expected)
    except (TypeError, ValueError, OverflowError):
        return False
    return abs(given - wanted) <= 1e-8 + 1e-5 * abs(wanted) < float("inf")


def brief(value: Any) -> str:
    """The beginning of a value as Python writes it; of a text, with its quotes."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # Python refuses to write integers of many thousand digits
        return "a very large value"
    return repr(text[:LONGEST_SHOWN] + (" ..." if len(text) > LONGEST_SHOWN else ""))
