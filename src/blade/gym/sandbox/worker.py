"""A child that answers questions about what a model wrote, one after the other; a question that takes too long ends it.

`ask` calls a function of one of our modules in the child. Importing a library of mathematics costs a second, so the child
stays for the next question; after one that ran out of time or memory there is a fresh one.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blade.gym.environment import NoVerdict
from blade.gym.sandbox import process as children
from blade.gym.sandbox.lockdown import Limits, a_while, settle

START_SECONDS = 60.0
"""A machine under load may take that long to import what a verifier needs."""
MEGABYTES = 4096
LARGEST_REPLY = 1 << 20


class OutOfBounds(Exception):
    """A question that its child could not answer within its limits."""


@dataclass(kw_only=True)
class _Child:
    folder: tempfile.TemporaryDirectory[str]
    process: subprocess.Popen[bytes]
    waiting: bytes = field(default=b"")

    def ask(self, line: bytes, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        try:
            self._write(line, deadline)
            return json.loads(self._line(deadline))
        except (OSError, ValueError) as problem:
            raise OutOfBounds(f"the child ended: {problem}") from problem

    def _write(self, line: bytes, deadline: float) -> None:
        assert self.process.stdin is not None
        out, left = self.process.stdin.fileno(), memoryview(line)
        while left:
            if not select.select([], [out], [], max(0.0, deadline - time.monotonic()))[1]:
                raise OutOfBounds("out of time")
            left = left[os.write(out, left[: 1 << 16]) :]

    def _line(self, deadline: float) -> bytes:
        assert self.process.stdout is not None
        source = self.process.stdout.fileno()
        while b"\n" not in self.waiting:
            if not select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise OutOfBounds("out of time")
            more = os.read(source, 1 << 16)
            self.waiting += more
            if not more or len(self.waiting) > LARGEST_REPLY:
                raise OutOfBounds("out of memory, or it ended itself")
        line, _, self.waiting = self.waiting.partition(b"\n")
        return line

    def end(self) -> None:
        children.end(self.process)
        self.folder.cleanup()


class Worker:
    """A child for one module, that may read what lies below `reads`. Questions from several threads wait for each other."""

    def __init__(self, module: str, *, seconds: float = 10.0, reads: Sequence[str] = ()) -> None:
        self._module = module
        self._reads = list(reads)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: _Child | None = None
        atexit.register(self.close)

    def ask(self, function: str, *arguments: object) -> Any:
        """What `function` of the module returns for arguments that are JSON; raises OutOfBounds, or ValueError as it did."""
        line = json.dumps([function, *arguments]).encode() + b"\n"
        with self._lock:
            child = self._started()
            try:
                reply = child.ask(line, self._seconds)
            except OutOfBounds:
                self._drop()
                raise
        if "raised" in reply:
            raise ValueError(reply["raised"])
        return reply["value"]

    def close(self) -> None:
        """End the child; the next question starts another."""
        with self._lock:
            self._drop()

    def _started(self) -> _Child:
        if self._child is None or self._child.process.poll() is not None:
            self._drop()
            folder = tempfile.TemporaryDirectory(prefix="blade-")
            self._child = _Child(folder=folder, process=children.start(__name__, Path(folder.name)))
            try:
                self._child.ask(json.dumps([self._module, self._seconds, self._reads]).encode() + b"\n", START_SECONDS)
            except OutOfBounds as problem:
                self._drop()
                raise NoVerdict(
                    f"the verifier's process did not start: {problem}", failure_class="transient"
                ) from problem
        return self._child

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


def _answer(module: Any, question: list[Any]) -> dict[str, Any]:
    name, *arguments = question
    try:
        return {"value": getattr(module, name)(*arguments)}
    except MemoryError:
        os._exit(3)
    except (Exception, RecursionError) as problem:  # noqa: BLE001 - whatever it was, it is the answer to this question
        return {"raised": f"{type(problem).__name__}: {problem}"[:500]}


def main() -> None:
    """The child's side: the module's name, the seconds of a question and what may be read; then questions, a line each."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a library prints is no reply
    name, seconds, reads = json.loads(sys.stdin.buffer.readline())
    module = importlib.import_module(name)
    getattr(module, "warm", lambda: None)()
    settle(Path(sys.argv[1]), Limits(megabytes=MEGABYTES, processor=False), reads)
    replies.write(b"{}\n")
    for line in sys.stdin.buffer:
        a_while(seconds)
        replies.write(json.dumps(_answer(module, json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
