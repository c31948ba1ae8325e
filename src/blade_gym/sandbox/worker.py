"""A sandboxed process that answers questions about what a model wrote, with one of our own modules.

Loading a library of mathematics takes a second, so the process stays, and every question gets a fork of it: nothing that
one answer does is there for the next. Answers are parsed and never run; where a library is about to evaluate text that is
more than arithmetic, it is stopped first.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from blade_gym.environment import NoVerdict
from blade_gym.sandbox import walls
from blade_gym.sandbox.walls import Child, ProcessDied

MEGABYTES = 4096
OUT_OF_MEMORY = 3
"""The exit code of a process that ran out of memory."""
WALL = 8.0
"""Seconds that one second of processor time may take on a busy machine."""
_ALWAYS = ("msgspec", "pyyaml")
"""What our own modules need."""


class OutOfBounds(NoVerdict):
    """A question that used up its processor time or memory: it would do so again, and that is no verdict on the answer."""

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
        self._limits = {"cpu": seconds, "wall": WALL * seconds, "megabytes": MEGABYTES}
        self._lock = threading.Lock()
        self._child: Child | None = None
        atexit.register(self.close)

    def ask(self, function: str, *arguments: object) -> Any:
        """What `function` of the module returns for arguments that are JSON.

        Raises ValueError as the function did, OutOfBounds, and NoVerdict where the process failed twice.
        """
        job = {"job": "ask", "function": function, "arguments": arguments, **self._limits}
        why = ""
        for _ in range(2):
            try:
                with self._lock:
                    ended, reply = self._started().run(job)
            except (ProcessDied, OSError) as problem:
                why = str(problem)
                self.close()
                continue
            if reply is not None:
                return _value(reply)
            if ended["why"] in ("cpu", "output") or ended["code"] == OUT_OF_MEMORY:
                raise OutOfBounds("comparing the answer ran out of time or memory")
            why = f"it ended with {ended['why'] or ended['code']}"
        raise NoVerdict(f"the process of {self._module} failed: {why}", failure_class="transient")

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.end()

    def _started(self) -> Child:
        if self._child is None or not self._child.alive:
            if self._child is not None:
                self._child.end()
            view = walls.view_for(self._module, self._packages, self._reads)
            self._child = Child(walls.start(walls.available(), view, module=self._module))
        return self._child


def _value(message: Mapping[str, Any]) -> Any:
    if "value" not in message:
        raise ValueError(message.get("raised") or "the reply to a question cannot be read")
    return message["value"]
