"""A model's program against tests: it gets inputs and returns data, and every comparison is made outside its sandbox.

Tests of three kinds. `prints`: the program reads its input and prints; the output is compared here. `returns`: a function
is called with JSON. `asserts`: statements of the benchmark's own. These two are judged in a second sandbox, which gets only
what the program's functions return, so that a hostile value costs nothing but its own test.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from blade_gym.environment import NoVerdict
from blade_gym.sandbox import walls
from blade_gym.sandbox.inside.judge import brief
from blade_gym.sandbox.walls import Child, ProcessDied
from blade_gym.sandbox.worker import WALL

PACKAGES = ("numpy",)
"""What a program may import beyond the standard library; judges of programming contests have it."""
LONGEST_MESSAGE = 600
JUDGE_SECONDS = 60.0
"""Processor time of the tests' own code, beyond what the program uses."""
_NOT_RUN = "not run: an earlier test ran out of time"
_OUT_OF_TIME = "the program takes too long"
_JUDGE_OUT_OF_TIME = "wrong result: the tests ran out of time or memory on what the program returned"
_LOADED = b'{"value": null}'
"""What a program's process writes when the program has been loaded."""


class ProgramLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a program may use."""

    seconds: float
    """Processor time of one test."""
    megabytes: int


class _Judges:
    """Processes in which tests run. They never load a model's program and fork for every test, so rollouts share them."""

    def __init__(self) -> None:
        self._idle: list[Child] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrowed(self) -> Iterator[Child]:
        """A process that nobody else uses meanwhile."""
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
        """End the processes that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()

    def forget(self) -> None:
        """Leave the processes to the process that this one was forked from."""
        self._lock, self._idle = threading.Lock(), []


_JUDGES = _Judges()
atexit.register(_JUDGES.close)
os.register_at_fork(after_in_child=_JUDGES.forget)


def _started() -> Child:
    return Child(walls.start(walls.for_programs(), walls.view_for(None, PACKAGES, ())))


def run_tests(code: str, tests: Sequence[Mapping[str, Any]], limits: ProgramLimits) -> list[dict[str, Any]]:
    """Each test's name, whether it passed, and what went wrong; raises NoVerdict where that cannot be known.

    After a test that ran out of time the others are not run: a program that never ends would take each one's time.
    """
    results: list[dict[str, Any]] = []
    try:
        with _started() as child:
            for test in tests:
                late = bool(results) and results[-1]["message"] in (_OUT_OF_TIME, _JUDGE_OUT_OF_TIME, _NOT_RUN)
                run = _prints if test["kind"] == "prints" else _judged
                message = _NOT_RUN if late else run(child, code, test, limits)
                results.append({"name": test["name"], "passed": message is None, "message": _clean(message or "")})
    except (ProcessDied, OSError) as problem:
        raise NoVerdict(f"the sandbox failed: {problem}", failure_class="transient") from problem
    return results


def output_of(code: str, stdin: str, limits: ProgramLimits) -> str | None:
    """The last line that a program prints; None where it raises or leaves its limits, NoVerdict where that is not known."""
    try:
        with _started() as child:
            ended, message = child.run({**_job("script", code, limits), "stdin": stdin, "total_bytes": 1 << 16})
    except (ProcessDied, OSError) as problem:
        raise NoVerdict(f"the sandbox failed: {problem}", failure_class="transient") from problem
    failed = message is not None or _fault(ended) or ended["code"] != 0
    return None if failed else str(ended["output"]).rstrip("\n").rsplit("\n", 1)[-1]


def _job(kind: str, code: str, limits: ProgramLimits) -> dict[str, Any]:
    wall = WALL * limits.seconds
    return {"job": kind, "code": code, "cpu": limits.seconds, "wall": wall, "megabytes": limits.megabytes}


def _fault(ended: Mapping[str, Any]) -> str | None:
    """Why a job ended before its time; raises NoVerdict where the program did not cause it."""
    why = ended["why"]
    if why == "starved" or (why == "signal" and ended["signal"] == signal.SIGKILL):
        raise NoVerdict(
            "the machine was too busy, or too short of memory, to run the program", failure_class="transient"
        )
    if why == "signal":
        return f"the program was ended by signal {ended['signal']}"
    return {"cpu": _OUT_OF_TIME, "wall": _OUT_OF_TIME, "output": "the program prints or returns too much"}.get(str(why))


def _clean(message: str) -> str:
    """A message that may hold words of the program's: short, and without what a terminal would act on."""
    plain = "".join(letter if letter.isprintable() else " " for letter in message[:LONGEST_MESSAGE])
    return "out of memory" if plain.startswith("MemoryError") else plain


def _prints(child: Child, code: str, test: Mapping[str, Any], limits: ProgramLimits) -> str | None:
    job = {**_job("script", code, limits), "stdin": str(test["input"]), "contest": True, "total_bytes": 1 << 16}
    ended, message = child.run(job)
    fault = _fault(ended)
    if fault is None and message is not None:
        fault = str(message.get("raised") if isinstance(message, dict) else "") or "the program raised an error"
    if fault is None and ended["code"] != 0:
        fault = "the program ended the process"
    if fault is not None:
        return fault
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


def _judged(child: Child, code: str, test: Mapping[str, Any], limits: ProgramLimits) -> str | None:
    """Let the judge put its questions to the program, line by line; neither side's words are read here."""
    wall = WALL * limits.seconds + 2 * JUDGE_SECONDS  # the program waits while the tests compute
    program = {**_job("serve", code, limits), "wall": wall, "contest": test["kind"] == "returns"}
    with _JUDGES.borrowed() as judge:
        child.begin(program)
        judge.begin({**_judge_job(code, test), "cpu": JUDGE_SECONDS, "wall": wall, "megabytes": limits.megabytes})
        told = 0
        while True:
            reply, ended = child.receive(wall)
            if ended is not None:
                judge.stop()
                return _fault(ended) or "the program ended the process"
            told += reply != _LOADED
            judge.send(reply)
            line, ended = judge.receive(wall)
            if ended is not None or line.startswith(b'{"verdict"'):
                child.stop()
                return _verdict(line, ended or judge.stop(), told)
            child.send(line)


def _judge_job(code: str, test: Mapping[str, Any]) -> dict[str, Any]:
    if test["kind"] == "asserts":
        return {"job": "judge", "tests": test["code"], "setup": test.get("setup"), "names": test.get("names")}
    call = {"function": test["function"], "input": test["input"], "output": test["output"]}
    return {"job": "compare", **call, "method_of": "Solution" if "class Solution" in code else None}


def _verdict(line: bytes, ended: Mapping[str, Any], told: int) -> str | None:
    """What the judge said; if it said nothing, its time or memory was used up, by the program's replies if it had any."""
    verdict = json.loads(line)["verdict"] if line else {}
    if "cannot" in verdict:
        raise NoVerdict(f"the task's tests cannot be run: {verdict['cannot']}", failure_class="skipped", terminal=True)
    if verdict:
        return None if verdict.get("passed") is True else str(verdict.get("failed"))
    _fault(ended)  # the machine's, if it was that
    if not told or ended["why"] == "output":
        raise NoVerdict("the task's own tests ran out of time or memory", failure_class="judge_failed", terminal=True)
    return _JUDGE_OUT_OF_TIME
