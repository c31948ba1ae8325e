"""A sandboxed process as its parent sees it: jobs go in, messages and an account of how each job ended come out.

Whatever a job sends is data, even if it looks like a verdict. All verdicts are formed on this side.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blade.gym.sandbox.walls import Started

START_SECONDS = 60.0
"""A machine under load may take that long to load what a verifier needs."""
OUTPUT_BYTES = 4 << 20
MESSAGE_BYTES = 32 << 20
MEGABYTES = 2048
_CHUNK = 1 << 16
_GRACE = 30.0
"""Seconds beyond a job's own limit after which the process counts as dead."""
_WAITED = 0.25
"""Share of a job's time during which processes waited for a processor, from which on the machine may have starved it."""

Answer = Callable[[Any], Any]
"""A reply to a message of a job; None is no reply."""


class ProcessDied(Exception):
    """The sandboxed process ended or stopped answering, so its job has no result."""


def _seconds_waited() -> float | None:
    """How long processes have waited for a processor since this machine (or container) started; None if it keeps no count."""
    for path in ("/sys/fs/cgroup/cpu.pressure", "/proc/pressure/cpu"):
        with suppress(OSError, ValueError, IndexError):
            return int(Path(path).read_text().split("total=")[1].split()[0]) / 1e6
    return None


class Child:
    """One process, ready for jobs, one after the other."""

    def __init__(self, started: Started, *, seconds: float = START_SECONDS) -> None:
        self._started = started
        assert started.process.stdin is not None
        assert started.process.stdout is not None
        self._to, self._from = started.process.stdin.fileno(), started.process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._received = bytearray()
        self._waited_before: float | None = None
        try:
            self._write(started.settings, time.monotonic() + seconds)
            kind, problem = self._line(time.monotonic() + seconds)
            if kind != b"R":
                raise ProcessDied(f"the process could not get ready: {problem.decode(errors='replace')[:500]}")
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return self._started.process.poll() is None

    def end(self) -> None:
        """End the process and everything in it."""
        self._started.end()

    def run(self, job: Mapping[str, Any], answer: Answer = lambda message: None) -> tuple[dict[str, Any], list[Any]]:
        """How a job ended, and its messages; `answer` may reply to each as it comes. Raises ProcessDied."""
        self.begin(job)
        messages: list[Any] = []
        while True:
            message, ended = self.next(float(job["wall"]))
            if ended is not None:
                return ended, messages
            messages.append(message)
            reply = answer(message)
            if reply is not None:
                self.send(reply)

    def begin(self, job: Mapping[str, Any]) -> None:
        """Start a job; limits that it does not name are the usual ones."""
        self._waited_before = _seconds_waited()
        whole = {"output_bytes": OUTPUT_BYTES, "message_bytes": MESSAGE_BYTES, "megabytes": MEGABYTES, **job}
        self._write(b"J" + json.dumps(whole).encode() + b"\n", time.monotonic() + _GRACE)

    def send(self, message: Any) -> None:
        """Send a message to the running job."""
        self._write(b"M" + json.dumps(message).encode() + b"\n", time.monotonic() + _GRACE)

    def stop(self) -> None:
        """End the running job; `next` returns how it ended."""
        self._write(b"K\n", time.monotonic() + _GRACE)

    def next(self, seconds: float) -> tuple[Any, dict[str, Any] | None]:
        """The next message of the running job, or (None, how it ended). Raises ProcessDied."""
        kind, line = self._line(time.monotonic() + seconds + _GRACE)
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as problem:
            if kind == b"E":
                raise ProcessDied(f"the process sent something that is not JSON: {problem}") from None
            content = {"unreadable": str(problem)}
        return (None, self._ended(content)) if kind == b"E" else (content, None)

    def _ended(self, account: dict[str, Any]) -> dict[str, Any]:
        """How the job ended; one that got little processor time on an idle machine was waiting of its own accord."""
        if account["why"] == "starved" and self._waited_before is not None:
            waited = (_seconds_waited() or self._waited_before) - self._waited_before
            if waited < _WAITED * account["wall"]:
                return {**account, "why": "wall"}
        return account

    def _write(self, line: bytes, deadline: float) -> None:
        left = memoryview(line)
        while left:
            if not select.select([], [self._to], [], max(0.0, deadline - time.monotonic()))[1]:
                raise ProcessDied("the process takes no more input")
            try:
                left = left[os.write(self._to, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as problem:
                raise ProcessDied(f"the process has ended: {problem}") from None

    def _line(self, deadline: float) -> tuple[bytes, bytes]:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if not select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise ProcessDied("the process does not answer")
            more = os.read(self._from, _CHUNK)
            if not more:
                raise ProcessDied("the process has ended")
            self._received += more
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line[:1], line[1:]
