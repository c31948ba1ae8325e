"""Child processes for what a model wrote: a group of their own that ends as a whole, without network where that can be had."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

_ALONE = ("--map-root-user", "--net", "--pid", "--fork", "--kill-child")
_NOT_FIRST = ("/bin/sh", "-c", '"$0" "$@"; exit $?')
"""The first process of a namespace ignores limits on its own processor time, so that must be a shell."""
_WAIT = 5.0


@lru_cache(maxsize=1)
def namespaces() -> tuple[str, ...]:
    """The command that gives a program no network and no sight of other processes; empty where there is none."""
    found = shutil.which("unshare")
    if found is None:
        return ()
    with suppress(OSError, subprocess.SubprocessError):
        tried = subprocess.run([found, *_ALONE, *_NOT_FIRST, "true"], capture_output=True, timeout=_WAIT, check=False)
        return (found, *_ALONE, *_NOT_FIRST) if tried.returncode == 0 else ()
    return ()


def isolation() -> str:
    """How the network is kept away: `namespaces` (by the kernel, and by the audit hook) or `audit hook` (by that alone)."""
    return "namespaces" if namespaces() else "audit hook"


def start(module: str, folder: Path) -> subprocess.Popen[bytes]:
    """`python -m module folder`, in a session of its own, with an environment that holds nothing of ours."""
    return subprocess.Popen(
        [*namespaces(), sys.executable, "-X", "utf8", "-s", "-B", "-m", module, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=_environment(folder),
        start_new_session=True,
    )


def _environment(folder: Path) -> dict[str, str]:
    """Enough to find Python and this package; no keys, no proxies, no home."""
    package = str(Path(__file__).resolve().parents[3])
    return {
        "PATH": os.defpath,
        "PYTHONPATH": package,
        "PYTHONHASHSEED": "0",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def end(process: subprocess.Popen[bytes]) -> None:
    """End a child with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_WAIT)


@contextmanager
def started(module: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A child that has ended, whatever happens, when the block is left."""
    process = start(module, folder)
    try:
        yield process
    finally:
        end(process)
