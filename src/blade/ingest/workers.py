"""Processes that scan. They take a third of a second to start, so a caller may start them before it needs them."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from blade.model.errors import BladeError

WORTH_WORKERS = 64 << 20
"""Below this many bytes starting workers costs more than it saves."""
MOST_WORKERS = 4
"""The disk does not feed more."""
OBJECTS_BETWEEN_SWEEPS = 1_000_000
"""Rows make no cycles: looking for them as often as Python does by itself takes a twentieth of a worker's time, a tenth of
a small analysis, and more where one holds a million places."""


@contextmanager
def rare_sweeps() -> Iterator[None]:
    """Within it the collector of cycles runs seldom, and as before afterwards; works as a decorator too."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_SWEEPS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def cores() -> int:
    """Cores that this process may use, as far as they help."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_WORKERS, usable)


@contextmanager
def started_early(inputs: Sequence[str], wanted: int | None) -> Iterator[Executor | None]:
    """Workers on their way where the inputs look large enough for them, else None; ended with the block."""
    number = cores() if wanted is None else wanted
    if number < 2 or sum(_size(Path(text.rpartition("=")[2])) for text in inputs) < WORTH_WORKERS:
        yield None
        return
    with open_pool(number) as pool:
        # A process that is started while interrupts are ignored ignores them from its first moment.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        for _ in range(number):
            pool.submit(_ready)
        signal.signal(signal.SIGINT, before)
        yield pool


@contextmanager
def open_pool(number: int) -> Iterator[Executor]:
    """Workers that leave interrupts to their parent; what they have not begun is dropped when something raises."""
    # Small runs are read without processes, and should not wait for what starts them to load.
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    from blade.ingest.processes import ScriptlessContext

    pool = ProcessPoolExecutor(number, mp_context=ScriptlessContext(), initializer=_prepare)
    try:
        yield pool
    except BrokenProcessPool:
        hint = "it may have run out of memory; --workers 1 reads in this process"
        raise BladeError("a process that was reading the rollouts died", hint=hint) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _size(path: Path) -> int:
    """Bytes of a plain file, or of those in a folder; compressed files are read from their start, by one worker each."""
    files = path.glob("*.jsonl") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.suffix == ".jsonl" and file.is_file())


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(OBJECTS_BETWEEN_SWEEPS)
    # A worker has nothing to put away: what it read is written, and taking its memory apart would keep its parent waiting.
    atexit.register(os._exit, os.EX_OK)
    import_module("blade.ingest.scan")


def _ready() -> None:
    """Nothing: each time that it is asked for, a worker starts."""
