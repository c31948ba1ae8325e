"""A sandboxed process as its parent sees it: jobs go in, messages and an account of how each job ended come out.

What comes out is data of the job's, whatever it looks like. All verdicts are made on this side.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from blade.gym.sandbox.walls import Started

START_SECONDS = 60.0
"""A machine under load may take that long to load what a verifier needs."""
OUTPUT_BYTES = 4 << 20
MESSAGE_BYTES = 32 << 20
MEGABYTES = 2048
_CHUNK = 1 << 16
_SPARE = 30.0
"""Seconds beyond a job's own limit after which nobody answers any more."""

Answer = Callable[[Any], Any]
"""What is said to a message of a job; None says nothing."""


class Gone(Exception):
    """The process ended or did not answer; no job had a result."""


class Child:
    """One process, ready for jobs, one after the other."""

    def __init__(self, started: Started, *, seconds: float = START_SECONDS) -> None:
        self._started = started
        assert started.process.stdin is not None
        assert started.process.stdout is not None
        self._to, self._from = started.process.stdin.fileno(), started.process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._waiting = bytearray()
        try:
            self._write(started.settings, time.monotonic() + seconds)
            kind, told = self._line(time.monotonic() + seconds)
            if kind != b"R":
                raise Gone(f"the process could not get ready: {told.decode(errors='replace')[:500]}")
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
        """How a job ended, and its messages; `answer` may reply to each as it comes. Raises Gone."""
        self.begin(job)
        messages: list[Any] = []
        while True:
            message, ended = self.next(float(job["wall"]))
            if ended is not None:
                return ended, messages
            messages.append(message)
            reply = answer(message)
            if reply is not None:
                self.tell(reply)

    def begin(self, job: Mapping[str, Any]) -> None:
        """Start a job; limits that it does not name are the usual ones."""
        whole = {"output_bytes": OUTPUT_BYTES, "message_bytes": MESSAGE_BYTES, "megabytes": MEGABYTES, **job}
        self._write(b"J" + json.dumps(whole).encode() + b"\n", time.monotonic() + _SPARE)

    def tell(self, message: Any) -> None:
        """Say something to the job that runs."""
        self._write(b"M" + json.dumps(message).encode() + b"\n", time.monotonic() + _SPARE)

    def stop(self) -> None:
        """End the job that runs; `next` tells how it ended."""
        self._write(b"K\n", time.monotonic() + _SPARE)

    def next(self, seconds: float) -> tuple[Any, dict[str, Any] | None]:
        """The next message of the job that runs, or (None, how it ended). Raises Gone."""
        kind, line = self._line(time.monotonic() + seconds + _SPARE)
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as problem:
            if kind == b"E":
                raise Gone(f"the process speaks in riddles: {problem}") from None
            content = {"unreadable": str(problem)}
        return (None, content) if kind == b"E" else (content, None)

    def _write(self, line: bytes, deadline: float) -> None:
        left = memoryview(line)
        while left:
            if not select.select([], [self._to], [], max(0.0, deadline - time.monotonic()))[1]:
                raise Gone("the process takes no more input")
            try:
                left = left[os.write(self._to, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as problem:
                raise Gone(f"the process has ended: {problem}") from None

    def _line(self, deadline: float) -> tuple[bytes, bytes]:
        searched = 0
        while (end := self._waiting.find(b"\n", searched)) < 0:
            searched = len(self._waiting)
            if not select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Gone("the process does not answer")
            more = os.read(self._from, _CHUNK)
            if not more:
                raise Gone("the process has ended")
            self._waiting += more
        line = bytes(self._waiting[:end])
        del self._waiting[: end + 1]
        return line[:1], line[1:]
