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
from collections import deque
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

from blade_gym.sandbox.inside.coupled import needs_one_process
from blade_gym.sandbox.inside.program import FILE, account, load
from blade_gym.sandbox.inside.values import NotPlain, Reference, read, written
from blade_gym.sandbox.inside.wire import Link

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
        self.raised: BaseException | None = None
        """The same, as it was raised among the tests."""

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
        """Raise what the program raised, as the nearest built-in exception."""
        error = error if isinstance(error, dict) else {}
        self.last = str(error.get("account") or "")
        kinds = (getattr(builtins, str(name), None) for name in error.get("types") or ())
        known = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)]
        # A StopIteration of the program's would end a loop of the tests' before its time.
        kind = known[0] if known and known[0] not in (Exception, StopIteration, StopAsyncIteration) else ProgramError
        text = str(error.get("text") or "")
        try:
            arguments = read(error["arguments"], self._object)
            raised = kind(*arguments)
        except Exception:  # noqa: BLE001 - arguments that cannot be read, or that the exception does not take
            raised = ProgramError(f"{error.get('name')}: {text}")
        self.raised = raised
        raise raised


class _Remote:
    """An object that stays with the program.

    `constructed`: the tests made it from a class of the program's, so they test how it behaves. Whether two of these are
    equal, or what their sum is, their own methods decide, and nobody can judge that from outside.
    """

    _program: _Program
    _reference: Reference
    _constructed: bool

    def __init__(self, program: _Program, reference: Reference, *, constructed: bool = False) -> None:
        vars(self).update(_program=program, _reference=reference, _constructed=constructed)

    def _ask(self, do: str, *given: Any, **target: Any) -> Any:
        return self._program.ask(do, {"reference": self._reference.number, **target}, given)

    def __call__(self, *given: Any, **named: Any) -> Any:
        value = self._program.ask("call", {"reference": self._reference.number}, given, named)
        if isinstance(value, _Remote) and self._reference.kind == "class":
            return _Remote(self._program, value._reference, constructed=True)
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask("get", attribute=name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise CannotJudge(f"a test sets the attribute {name} of an object of the program's")

    def __iter__(self) -> Iterator[Any]:
        return self if self._reference.kind == "iterator" else iter(self._ask("items"))

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
        if not isinstance(other, _Remote):
            return False
        same = other._reference.number == self._reference.number
        if not same and self._constructed and other._constructed:
            raise CannotJudge("a test compares two objects of a class of the program's")
        return same

    def __hash__(self) -> int:
        return self._reference.number


def _operation(name: str) -> Any:
    def operate(self: _Remote, *others: Any) -> Any:
        if self._constructed and any(isinstance(other, _Remote) and other._constructed for other in others):
            raise CannotJudge(f"a test uses {name} of two objects of a class of the program's")
        return NotImplemented

    return operate


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    setattr(_Remote, f"__{_name}__", _operation(f"__{_name}__"))
    setattr(_Remote, f"__r{_name}__", _operation(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(_Remote, f"__{_name}__", _operation(f"__{_name}__"))


def _as_reference(value: Any) -> Any:
    """A stand-in as the program knows its object, also within collections."""
    if isinstance(value, _Remote):
        return value._reference
    if type(value) in (list, tuple, set, frozenset, deque):
        return type(value)(_as_reference(inner) for inner in value)
    if type(value) is dict:
        return {_as_reference(key): _as_reference(inner) for key, inner in value.items()}
    if type(value).__name__ == "ndarray" and value.dtype == object:
        return _as_reference(value.tolist())
    return value


def _follow(given: tuple[Any, ...], now: list[Any]) -> None:
    """Change the tests' own lists, dictionaries and sets as the program changed its copies."""
    for own, changed in zip(given, now, strict=False):
        if isinstance(own, list | bytearray) and type(own) is type(changed):
            own[:] = changed
        elif isinstance(own, deque) and isinstance(changed, deque):
            own.clear()
            own.extend(changed)
        elif isinstance(own, dict | set) and type(own) is type(changed):
            own.clear()
            own.update(changed)


class _Builtins(dict[str, Any]):
    """What the tests find after their own names: names of the program's, then Python's own."""

    def __init__(self, program: _Program, asked: set[str]) -> None:
        # The program must not put its own `len` into a test, unless the task asks for a function of that name.
        super().__init__((name, value) for name, value in vars(builtins).items() if name not in asked)
        self._program, self._asked = program, asked
        self._objects: dict[str, _Remote] = {}

    def __missing__(self, name: str) -> Any:
        if self._asked and name not in self._asked:
            raise CannotJudge(f"the tests use {name}, which neither they nor the task define")
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
        code, names = _prepared(job, program)
        problem = program.loaded()
        if problem is not None:
            _send_verdict(link, failed=problem)
            return
        exec(code, names)  # noqa: S102 - the benchmark's own tests
    except CannotJudge as problem:
        _send_verdict(link, cannot=str(problem))
    except BaseException as problem:  # noqa: BLE001 - whatever a test raises, it has failed
        _send_verdict(link, **_failure(problem, program, source))
    else:
        _send_verdict(link, passed=True)


def _failure(problem: BaseException, program: _Program, source: str) -> dict[str, Any]:
    if isinstance(problem, SystemExit) and not problem.code:
        return {"passed": True}  # how test runners end when all is well
    if isinstance(problem, ImportError) and problem is not program.raised:
        return {"cannot": f"the tests need a module: {problem}"}
    if isinstance(problem, TypeError) and problem is not program.raised and "catching classes" in str(problem):
        return {"cannot": "the tests catch an exception of the program's own"}
    failed = account(problem, source)
    of_program = program.last and not isinstance(problem, AssertionError) and program.last not in failed
    return {"failed": f"{program.last}; in {failed}" if of_program else failed}


def _prepared(job: Mapping[str, Any], program: _Program) -> tuple[CodeType, dict[str, Any]]:
    """The tests' code, and what it can use: the task's own helpers, standard modules, and the program's names."""
    asked = set(job.get("names") or ())
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    names = vars(module)
    names["__builtins__"] = _Builtins(program, asked)
    try:
        tree = ast.parse(job["tests"])
        code = compile(tree, FILE, "exec", dont_inherit=True)
        if job.get("setup"):
            helpers = load(job["setup"], "setup", {})
            names |= {name: value for name, value in helpers.items() if not name.startswith("__") and name not in asked}
        for name in _modules(tree) - asked - set(names):
            names[name] = importlib.import_module(_MODULES.get(name, name))
    except Exception as problem:  # noqa: BLE001 - the task's own, whatever it is
        raise CannotJudge(f"the task's own code fails: {type(problem).__name__}: {problem}") from None
    if (why := needs_one_process(tree, set(names))) is not None:
        raise CannotJudge(f"the tests {why}, which cannot be judged from outside the program's process")
    return code, names


def _send_verdict(link: Link, **verdict: Any) -> None:
    """The one message that is not a question."""
    link.send({"verdict": verdict})


_MODULES = {"np": "numpy", "numpy": "numpy"}
"""Beyond the standard library."""


def _modules(tree: ast.Module) -> set[str]:
    """Modules that the tests use as `name.something` only, and do not define: they mean the module."""
    nodes = list(ast.walk(tree))
    bases = {node.value.id for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return {name for name in bases - called - stored if name in _MODULES or name in sys.stdlib_module_names}


def compare(job: Mapping[str, Any], link: Link) -> None:
    """Call a function of the program with JSON arguments, and compare what it returns with the expected JSON."""
    program = _Program(link)
    target = {"name": job["function"], "method_of": job.get("method_of"), "once": True}
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
