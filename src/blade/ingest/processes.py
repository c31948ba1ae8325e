"""Processes that know nothing of the script which starts them.

A new process usually runs the caller's script again, up to its `__main__` guard. Ours need nothing of it, and a script
without a guard would start processes without end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType


class ScriptlessProcess(SpawnProcess):
    """A new process that imports what it is given to do, and not the caller's script."""

    def start(self) -> None:
        """Start it; in it `__main__` is empty."""
        with _empty_main():
            super().start()


class ScriptlessContext(SpawnContext):
    """Where a pool takes such processes from."""

    Process = ScriptlessProcess


@contextmanager
def _empty_main() -> Iterator[None]:
    """Within it nothing can be seen of the caller's script."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
