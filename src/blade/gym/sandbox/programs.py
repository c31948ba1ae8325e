"""A model's program against tests: it gets inputs and gives data, and every comparison is made outside its sandbox.

Tests of three kinds. `prints`: the program reads its input and prints. `returns`: a function is called. `asserts`:
statements of the benchmark's own, which run in a second sandbox and see only what the program's functions return.
"""

from __future__ import annotations

import atexit
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from blade.gym.environment import NoVerdict
from blade.gym.sandbox import walls
from blade.gym.sandbox.child import Child, Gone
from blade.gym.sandbox.inside.values import Untold, read, written
from blade.gym.sandbox.worker import WALL

PACKAGES = ("numpy",)
"""What a program may import beyond the standard library; judges of programming contests have it."""
LONGEST_SHOWN = 100
JUDGE_SECONDS = 60.0
"""Processor time of the benchmark's own test code, beyond what the program uses."""
_NOT_RUN = "not run: an earlier test ran out of time"
_OUT_OF_TIME = "the program takes too long"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a program may use."""

    seconds: float
    """Processor time of one test."""
    megabytes: int


class _Judges:
    """The process in which the tests of `asserts` run. It never sees a model's program, so all rollouts share it."""

    def __init__(self) -> None:
        self._idle: list[Child] = []
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Child]:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is None or not child.alive:
            child = _started()
        try:
            yield child
        except BaseException:
            child.end()
            raise
        with self._lock:
            self._idle.append(child)

    def close(self) -> None:
        """End those that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()


_JUDGES = _Judges()
atexit.register(_JUDGES.close)


def _started() -> Child:
    return Child(walls.start(walls.for_programs(), walls.view_for(None, PACKAGES, ())))


def run_tests(code: str, tests: Sequence[Mapping[str, Any]], limits: Limits) -> list[dict[str, Any]]:
    """Each test's name, whether it passed, and what went wrong; raises NoVerdict where that cannot be known.

    After a test that ran out of time the others are not run: a program that never ends would take each one's time.
    """
    results: list[dict[str, Any]] = []
    try:
        with _started() as child:
            for test in tests:
                late = bool(results) and results[-1]["message"] in (_OUT_OF_TIME, _NOT_RUN)
                message = _NOT_RUN if late else _KINDS[test["kind"]](child, code, test, limits)
                results.append({"name": test["name"], "passed": message is None, "message": message or ""})
    except (Gone, OSError) as problem:
        raise NoVerdict(f"the sandbox failed: {problem}", failure_class="transient") from problem
    return results


def output_of(code: str, stdin: str, limits: Limits) -> str | None:
    """The last line that a program prints; None where it raises or leaves its limits, NoVerdict where that is not known."""
    with _started() as child:
        ended, messages = child.run({**_job("script", code, limits), "stdin": stdin})
    failed = messages or _fault(ended) or ended["code"] != 0
    return None if failed else str(ended["output"]).rstrip("\n").rsplit("\n", 1)[-1]


def _job(kind: str, code: str, limits: Limits) -> dict[str, Any]:
    wall = WALL * limits.seconds
    return {"job": kind, "code": code, "cpu": limits.seconds, "wall": wall, "megabytes": limits.megabytes}


def _fault(ended: Mapping[str, Any]) -> str | None:
    """Why a job ended before its time; raises NoVerdict where that was not the program's doing."""
    why = ended["why"]
    if why == "starved" or (why == "signal" and ended["signal"] == 9):
        raise NoVerdict(
            "the machine was too busy, or too short of memory, to run the program", failure_class="transient"
        )
    if why == "signal":
        return f"the program was ended by signal {ended['signal']}"
    return {"cpu": _OUT_OF_TIME, "wall": _OUT_OF_TIME, "output": "the program prints too much"}.get(str(why))


def _prints(child: Child, code: str, test: Mapping[str, Any], limits: Limits) -> str | None:
    job = {**_job("script", code, limits), "stdin": str(test["input"]), "at_hand": True}
    ended, messages = child.run(job)
    raised = next((str(one["raised"]) for one in messages if isinstance(one, dict) and "raised" in one), None)
    fault = _fault(ended) or raised
    if fault is None and ended["code"] != 0:
        fault = "the program ended the process"
    if fault is not None:
        return "out of memory" if fault.startswith("MemoryError") else fault
    expected, got = str(test["output"]), str(ended["output"])
    return None if same_output(expected, got) else f"wrong output: expected {brief(expected)}, got {brief(got)}"


def same_output(expected: str, got: str) -> bool:
    """Line by line, without white space around them; a line of numbers may write the same numbers another way."""
    wanted, given = ([line.strip() for line in text.strip().split("\n")] for text in (expected, got))
    return len(wanted) == len(given) and all(map(_same_line, wanted, given))


def _same_line(wanted: str, given: str) -> bool:
    if wanted == given:
        return True
    try:
        return [Decimal(word) for word in wanted.split()] == [Decimal(word) for word in given.split()]
    except InvalidOperation:
        return False


def _returns(child: Child, code: str, test: Mapping[str, Any], limits: Limits) -> str | None:
    job = {**_job("serve", code, limits), "at_hand": True}
    question = {"do": "call", "name": test["function"], "arguments": written(test["input"])}
    if "class Solution" in code:
        question["method_of"] = "Solution"
    replies = iter([question])
    ended, messages = _conversation(child, job, replies)
    fault = _fault(ended)
    if fault is not None:
        return fault
    if len(messages) < 2:
        return _raised(messages[0]) if messages and "raised" in messages[0] else "the program ended the process"
    reply = messages[1]
    if reply.get("missing"):
        return f"there is no function {test['function']}"
    if "raised" in reply:
        return _raised(reply)
    return _wrong_value(test["output"], reply.get("value"))


def _conversation(child: Child, job: Mapping[str, Any], questions: Iterator[Any]) -> tuple[dict[str, Any], list[Any]]:
    """Ask one question after each message, then end the job."""
    child.begin(job)
    messages: list[Any] = []
    while True:
        message, ended = child.next(float(job["wall"]))
        if ended is not None:
            return ({**ended, "why": None} if ended["why"] == "stopped" else ended), messages
        messages.append(message if isinstance(message, dict) else {"raised": None})
        question = None if "raised" in messages[-1] else next(questions, None)
        if question is None:
            child.stop()
        else:
            child.tell(question)


def _raised(message: Mapping[str, Any]) -> str:
    told = message.get("raised")
    text = str(told.get("account")) if isinstance(told, dict) else "the program raised an error"
    return "out of memory" if text.startswith("MemoryError") else text


def _wrong_value(expected: Any, given: Any) -> str | None:
    try:
        value = read(given)
    except Untold as problem:
        return f"the result cannot be read: {problem}"
    value = list(value) if isinstance(value, tuple) else value
    if value == expected or _as_json(value) == _as_json(expected) or _close(value, expected):
        return None
    return f"wrong result: expected {brief(repr(expected))}, got {brief(repr(value))}"


def _as_json(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return None if isinstance(value, float) else repr(value)


def _close(value: Any, expected: Any) -> bool:
    """Two numbers, also written as texts, that differ by as little as numpy's `allclose` allows."""
    try:
        one, other = float(value), float(expected)
    except (TypeError, ValueError, OverflowError):
        return False
    return abs(one - other) <= 1e-8 + 1e-5 * abs(other)


def _asserts(child: Child, code: str, test: Mapping[str, Any], limits: Limits) -> str | None:
    seconds = limits.seconds + JUDGE_SECONDS
    job = {"job": "judge", "cpu": JUDGE_SECONDS, "wall": WALL * seconds, "megabytes": limits.megabytes}
    job |= {"tests": test["code"], "setup": test.get("setup"), "names": test.get("names")}
    program = _Program(child, code, limits)
    with _JUDGES.one() as judge:
        try:
            ended, messages = judge.run(job, program.answer)
        finally:
            program.close()
    fault = program.fault
    if fault is not None:
        return fault
    last = messages[-1] if messages and isinstance(messages[-1], dict) else {}
    if "cannot" in last:
        raise NoVerdict(f"the task's tests cannot be run: {last['cannot']}", failure_class="skipped", terminal=True)
    if ended["why"] is not None or not last.keys() & {"passed", "failed"}:
        raise NoVerdict("the task's own tests ran out of time or memory", failure_class="judge_failed", terminal=True)
    return None if last.get("passed") is True else str(last.get("failed"))


class _Program:
    """The program as the judge's process meets it: started with the first question, ended with the last."""

    def __init__(self, child: Child, code: str, limits: Limits) -> None:
        self._child = child
        self.fault: str | None = None
        self._running = True
        # It waits while the tests compute.
        self._wall = WALL * (limits.seconds + JUDGE_SECONDS)
        child.begin({**_job("serve", code, limits), "wall": self._wall})
        self._first = self._reply()

    def answer(self, message: Any) -> Any:
        """The program's reply to a question of the tests; None for a message that asks nothing."""
        if not isinstance(message, dict) or "ask" not in message:
            return None
        if self._first is not None and "raised" in self._first:
            return self._first
        self._first = None
        if self._running:
            self._child.tell(message["ask"])
        reply = self._reply()
        return reply if reply is not None else {"raised": {"type": "SystemExit", "text": "", "account": self.fault}}

    def _reply(self) -> dict[str, Any] | None:
        if not self._running:
            return None
        message, ended = self._child.next(self._wall)
        if ended is not None:
            self._running = False
            self.fault = _fault(ended) or "the program ended the process"
            return None
        return message if isinstance(message, dict) else {"raised": {"type": "ValueError", "text": "", "account": ""}}

    def close(self) -> None:
        """End the program, whatever it does."""
        if self._running:
            self._child.stop()
            while self._running:
                _, ended = self._child.next(self._wall)
                self._running = ended is None


_KINDS = {"prints": _prints, "returns": _returns, "asserts": _asserts}


def brief(text: str) -> str:
    """The beginning of a text, quoted."""
    return repr(text[:LONGEST_SHOWN] + (" ..." if len(text) > LONGEST_SHOWN else ""))
