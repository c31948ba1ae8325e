"""Runs a command for its time, and once more to watch the memory of all its processes together, from Linux's /proc.

Memory is PSS: a page that n processes share counts 1/n for each, so the sum over processes is what the machine gives. To
add it up the kernel stops a process and walks its pages, ten times a second: what is watched is not timed. Where there is
no /proc the peaks are None.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

PROC = Path("/proc")
EVERY = 0.1  # seconds between samples; a peak shorter than this can be missed
WORKING = 20_000_000  # a process below this does no work of ours (a resource tracker, a shell)


class Measured(Struct, frozen=True, kw_only=True):
    seconds: float
    peak: int | None  # bytes of all processes together
    largest: int | None  # bytes of the largest process
    processes: int  # most processes above WORKING at one time, at least one
    failure: str | None  # exit code and the end of stderr, where the command failed


class Watch(Struct, kw_only=True):
    """Samples a process and its descendants until told to stop."""

    pid: int
    peak: int = 0
    largest: int = 0
    processes: int = 0
    done: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.done.wait(EVERY):
            sizes = [proportional_size(pid) for pid in family(self.pid)]
            self.peak = max(self.peak, sum(sizes))
            self.largest = max(self.largest, *sizes)
            self.processes = max(self.processes, sum(size > WORKING for size in sizes))


def family(pid: int) -> list[int]:
    """The process and all that descend from it."""
    found = [pid]
    for parent in found:
        for thread in (PROC / str(parent) / "task").glob("*/children"):
            found += [int(child) for child in read(thread).split()]
    return found


def proportional_size(pid: int) -> int:
    for line in read(PROC / str(pid) / "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def read(path: Path) -> str:
    """The text of a /proc file; nothing for a process that has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def timed(command: Sequence[str]) -> Measured:
    """Runs the command to its end, its output thrown away; its memory is not looked at."""
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    seconds = time.perf_counter() - start
    last_words = " ".join(done.stderr.split())[-200:]
    failure = f"exit {done.returncode}: {last_words}" if done.returncode else None
    return Measured(seconds=seconds, peak=None, largest=None, processes=1, failure=failure)


def measure(command: Sequence[str]) -> Measured:
    """Runs the command twice to its end: once for its time and once for its memory."""
    found = timed(command)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch = Watch(pid=process.pid)
    thread = threading.Thread(target=watch.run, daemon=True)
    thread.start()
    process.wait()
    watch.done.set()
    thread.join()
    return replace(found, peak=watch.peak or None, largest=watch.largest or None, processes=max(1, watch.processes))
