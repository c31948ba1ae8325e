"""A sandboxed process as its parent sees it: jobs go in, messages and an account of how each job ended come out.

Whatever a job sends is data, even if it looks like a verdict. All verdicts are formed on this side.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blade_gym.sandbox.walls import Started

START_SECONDS = 60.0
"""A machine under load may take that long to load what a verifier needs."""
_LIMITS = {"output_bytes": 4 << 20, "message_bytes": 32 << 20, "total_bytes": 512 << 20, "megabytes": 2048}
"""Of a job: what it prints, one message, all messages, memory."""
_CHUNK = 1 << 16
_GRACE = 30.0
"""Seconds beyond a job's own limit after which the process counts as dead."""
_WAITED = 0.25
"""Share of a job's time during which processes waited for a processor, from which on the machine may have starved it."""


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

    def run(self, job: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """How a job ended, and its first message, None if there was none. Raises ProcessDied."""
        self.begin(job)
        first: Any = None
        while True:
            line, ended = self.receive(float(job["wall"]))
            if ended is not None:
                return ended, first
            first = first if first is not None else _decoded(line)

    def begin(self, job: Mapping[str, Any]) -> None:
        """Start a job; limits that it does not name are the usual ones."""
        self._waited_before = _seconds_waited()
        self._write(b"J" + json.dumps({**_LIMITS, **job}).encode() + b"\n", time.monotonic() + _GRACE)

    def send(self, line: bytes) -> None:
        """Send a message, a line of JSON, to the running job."""
        self._write(b"M" + line + b"\n", time.monotonic() + _GRACE)

    def stop(self) -> dict[str, Any]:
        """End the running job; returns how it ended. Raises ProcessDied."""
        self._write(b"K\n", time.monotonic() + _GRACE)
        ended = None
        while ended is None:
            _, ended = self.receive(0.0)
        return ended

    def receive(self, seconds: float) -> tuple[bytes, dict[str, Any] | None]:
        """The next message of the running job as it was written, or how the job ended. Raises ProcessDied."""
        kind, line = self._line(time.monotonic() + seconds + _GRACE)
        return (line, None) if kind == b"M" else (b"", self._ended(json.loads(line)))

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
            ready = self._wait(deadline, select.POLLOUT)
            if not ready:
                raise ProcessDied("the process takes no more input")
            if self._from in ready:  # or both sides could wait for each other
                self._read()
            if self._to not in ready:
                continue
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
            if not self._wait(deadline, 0):
                raise ProcessDied("the process does not answer")
            self._read()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line[:1], line[1:]

    def _wait(self, deadline: float, for_writing: int) -> set[int]:
        """The ends that are ready before the deadline."""
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        if for_writing:
            poll.register(self._to, for_writing)
        return {end for end, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)}

    def _read(self) -> None:
        more = os.read(self._from, _CHUNK)
        if not more:
            raise ProcessDied("the process has ended")
        self._received += more


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as problem:
        return {"unreadable": str(problem)}
