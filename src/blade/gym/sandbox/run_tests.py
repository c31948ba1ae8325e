"""The child in which a model's program meets its tests. It reads a job from its input and answers
"ready", then a line for each test.

A line begins with the job's token: a program that prints what looks like a verdict has not passed for that.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

from blade.gym.sandbox.lockdown import Limits, settle

LONGEST_OUTPUT = 1 << 20
LONGEST_MESSAGE = 600
NAME = "solution"


class TookTooLong(BaseException):
    """A test that did not end in its time; no `except Exception` of a program catches it."""


class _Printed(io.StringIO):
    """What a program prints, up to a limit."""

    def write(self, text: str) -> int:
        if self.tell() + len(text) > LONGEST_OUTPUT:
            raise OSError("the program prints too much")
        return super().write(text)


@contextmanager
def _time(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _run(code: str, name: str = NAME) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": name}
    exec(compile(code, f"<{NAME}>", "exec", dont_inherit=True), scope)  # noqa: S102 - what this process is for
    return scope


def _prints(code: str, test: Mapping[str, Any]) -> str | None:
    """A program that reads its input and prints its answer; None when it prints what is expected."""
    printed, before = _Printed(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(str(test["input"]).encode()), encoding="utf-8")
    try:
        with redirect_stdout(printed):
            _run(code, "__main__")
    except SystemExit as left:
        if left.code not in (None, 0):
            return f"the program ended with code {left.code}"
    finally:
        sys.stdin = before
    expected, got = str(test["output"]), printed.getvalue()
    if _same_text(expected, got):
        return None
    return f"wrong output: expected {_brief(expected)}, got {_brief(got)}"


def _same_text(expected: str, got: str) -> bool:
    wanted, given = expected.split(), got.split()
    return len(wanted) == len(given) and all(map(_same_word, wanted, given))


def _same_word(wanted: str, given: str) -> bool:
    if wanted == given:
        return True
    if "." not in wanted and "e" not in wanted:
        return False
    try:
        return abs(float(wanted) - float(given)) <= 1e-6 * max(1.0, abs(float(wanted)))
    except ValueError:
        return False


def _returns(code: str, test: Mapping[str, Any]) -> str | None:
    """A function that is called with arguments; None when it returns what is expected."""
    scope = _run(code)
    function = scope.get(test["function"])
    if function is None and "Solution" in scope:
        function = getattr(scope["Solution"](), test["function"], None)
    if function is None:
        return f"there is no function {test['function']}"
    got = function(*test["input"])
    if got == test["output"] or json.dumps(got, default=list) == json.dumps(test["output"]):
        return None
    return f"wrong result: expected {_brief(repr(test['output']))}, got {_brief(repr(got))}"


def _asserts(code: str, test: Mapping[str, Any]) -> str | None:
    """Statements that are run after the program; None when none of them raises."""
    _run(f"{code}\n\n{test['code']}\n")
    return None


KINDS: Mapping[str, Callable[[str, Mapping[str, Any]], str | None]] = {
    "prints": _prints,
    "returns": _returns,
    "asserts": _asserts,
}


def _brief(text: str) -> str:
    return repr(text[:100] + (" ..." if len(text) > 100 else ""))


def _message(problem: BaseException, source: str) -> str:
    """What was raised, and the line that raised it."""
    where = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == f"<{NAME}>"]
    lines = source.splitlines()
    line = lines[where[-1] - 1].strip() if where and where[-1] and where[-1] <= len(lines) else ""
    said = f"{type(problem).__name__}: {problem}".rstrip(": ")
    return (f"{said} at `{line[:200]}`" if line else said)[:LONGEST_MESSAGE]


def _verdict(code: str, test: Mapping[str, Any], seconds: float) -> str | None:
    try:
        with _time(seconds), redirect_stdout(_Printed()), redirect_stderr(_Printed()):
            return KINDS[test["kind"]](code, test)
    except TookTooLong:
        return "the program takes too long"
    except MemoryError:
        return "out of memory"
    except (Exception, SystemExit, KeyboardInterrupt) as problem:  # noqa: BLE001 - whatever it raised, the test failed
        return _message(problem, f"{code}\n\n{test.get('code', '')}\n")


def main() -> None:
    """Read the job, give up what a program may not have, run its tests in order."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    job = json.loads(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    limits = Limits(seconds=job["seconds"], megabytes=job["megabytes"])
    settle(Path(sys.argv[1]), limits)
    answers.write(f"{job['token']} ready\n".encode())
    for place, test in enumerate(job["tests"]):
        found = _verdict(job["code"], test, job["each"])
        line = json.dumps([place, found])
        answers.write(f"{job['token']} {line}\n".encode())
    os._exit(0)  # threads that a program left behind are not waited for


if __name__ == "__main__":
    main()
