"""A sandboxed process that answers questions about what a model wrote, with one of our own modules.

Loading a library of mathematics takes a second, so the process stays, and a fork of it takes one question after the
other; one that takes too long costs a fork and no new start. A fork may serve many answers because they are read and
never run: where a library is about to evaluate text that is more than arithmetic, it is stopped first.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import threading
from collections.abc import Iterable
from typing import Any

from blade.gym.environment import NoVerdict
from blade.gym.sandbox import walls
from blade.gym.sandbox.child import Child, Gone

MEGABYTES = 4096
DAYS = 1e6
"""Seconds: no limit but those of each question."""
OUT_OF_MEMORY = 3
"""How a process ends that has no memory left."""
WALL = 8.0
"""Seconds that a second of processor time may take on a busy machine."""
_ALWAYS = ("msgspec", "pyyaml")
"""What our own modules need."""
_STARTER = concurrent.futures.ThreadPoolExecutor(1, "sandbox")
"""A thread that lives as long as this process: the kernel ends a sandboxed process with the thread that started it."""


class OutOfBounds(NoVerdict):
    """A question that used up its processor time or memory: it would again, and says nothing about the answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, failure_class="judge_failed", terminal=True)


class Worker:
    """A process for one module, which sees the packages named and reads what lies below `reads`.

    A question may use `seconds` of processor time; how busy the machine is decides nothing. Questions from several
    threads wait for each other.
    """

    def __init__(
        self, module: str, *, seconds: float = 10.0, packages: Iterable[str] = (), reads: Iterable[str] = ()
    ) -> None:
        self._module = module
        self._packages, self._reads = (*_ALWAYS, *packages), tuple(reads)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._answering = False
        """Whether a fork is there that takes questions."""
        atexit.register(self.close)

    def ask(self, function: str, *arguments: object) -> Any:
        """What `function` of the module returns for arguments that are JSON.

        Raises ValueError as the function did, OutOfBounds, and NoVerdict where the process failed twice.
        """
        question = {"function": function, "arguments": arguments, "seconds": self._seconds}
        why = ""
        for _ in range(2):
            try:
                with self._lock:
                    reply, ended = self._asked(question)
            except (Gone, OSError) as problem:
                why = str(problem)
                self.close()
                continue
            if ended is None:
                return _value(reply)
            if ended["why"] in ("cpu", "output") or ended["code"] == OUT_OF_MEMORY:
                raise OutOfBounds("comparing the answer ran out of time or memory")
            why = f"it was ended by {ended['why'] or ended['code']}"
        raise NoVerdict(f"the process of {self._module} failed: {why}", failure_class="transient")

    def _asked(self, question: dict[str, Any]) -> tuple[Any, dict[str, Any] | None]:
        child = self._started()
        if not self._answering:
            child.begin({"job": "ask", "cpu": DAYS, "wall": DAYS, "megabytes": MEGABYTES})
            self._answering = True
        child.tell(question)
        reply, ended = child.next(WALL * self._seconds)
        self._answering = ended is None
        return reply, ended

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            child, self._child, self._answering = self._child, None, False
            if child is not None:
                child.end()

    def _started(self) -> Child:
        if self._child is None or not self._child.alive:
            if self._child is not None:
                self._child.end()
            self._answering = False
            view = walls.view_for(self._module, self._packages, self._reads)
            self._child = Child(_STARTER.submit(walls.start, walls.available(), view, module=self._module).result())
        return self._child


def _value(message: dict[str, Any]) -> Any:
    if "value" not in message:
        raise ValueError(message.get("raised") or "the answer to a question cannot be read")
    return message["value"]
