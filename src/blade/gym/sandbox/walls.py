"""Which walls this machine can put around a process, and how one is started behind them.

`bubblewrap` and `namespaces` (by `unshare`) give the same view: a root that holds Python and named packages, read-only, a
small file system in memory, no network, no other process, nobody's environment. `none` is for parsing alone: a program
that a model wrote runs without walls only where the user allowed it (`allow_unsafe`).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from blade.core.errors import RequestError
from blade.gym.sandbox import visible
from blade.gym.sandbox.visible import View

BUBBLEWRAP, NAMESPACES, NONE = "bubblewrap", "namespaces", "none"
KINDS = (BUBBLEWRAP, NAMESPACES)
WORK = "/sandbox"
MEGABYTES_OF_FILES = 64
NUMBER_OF_FILES = 2000
_TRIAL_SECONDS = 20.0
_ENVIRONMENT = {
    "HOME": WORK,
    "TMPDIR": WORK,
    "LC_ALL": "C.UTF-8",
    "PATH": os.defpath,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
HOW_TO_GET_ONE = (
    "on Linux install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap) or allow user namespaces; "
    "elsewhere use a Linux container or machine"
)
OPEN_WITHOUT = "it could read your files and use the network, and a hostile one could change files and start programs"

_unsafe_allowed = False


def allow_unsafe(allowed: bool = True) -> None:
    """Let programs run without walls where this machine has none, for the rest of this process."""
    global _unsafe_allowed  # noqa: PLW0603 - one decision of the user's for the whole process
    _unsafe_allowed = allowed


@dataclass(frozen=True, kw_only=True)
class Started:
    """A process behind its walls, before it has said that it is ready."""

    process: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]
    settings: bytes
    """The first line that it must be told."""

    def __post_init__(self) -> None:
        _running.add(self.process)

    def end(self) -> None:
        """End it with all that it started, and leave nothing behind."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5.0)
        self.folder.cleanup()


def start(kind: str, view: View, *, module: str | None = None) -> Started:
    """A process behind walls of this kind; `module` is one of ours that it answers questions with, else it runs programs."""
    folder = tempfile.TemporaryDirectory(prefix="blade-", ignore_cleanup_errors=True)
    work = WORK if kind != NONE else folder.name
    root = {"at": folder.name, "work": work, "devices": _devices(), "links": view.links, "system": view.system}
    settings: dict[str, Any] = {
        "walls": kind,
        "work": work,
        "root": {**root, "hidden": view.hidden, "shown": view.shown},
        "path": view.path,
        "environment": _ENVIRONMENT if kind != NONE else {**_ENVIRONMENT, "HOME": work, "TMPDIR": work},
        "megabytes_of_files": MEGABYTES_OF_FILES,
        "number_of_files": NUMBER_OF_FILES,
        "module": module,
    }
    program = [visible.interpreter(), "-I", "-S", "-B", "-X", "utf8", str(visible.INSIDE / "enter.py")]
    process = subprocess.Popen(
        [*_COMMANDS[kind](view), *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"LC_ALL": "C.UTF-8", "PATH": os.defpath, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    return Started(process=process, folder=folder, settings=json.dumps(settings).encode() + b"\n")


def end_all() -> None:
    """End every process behind walls: for a command that was told to stop, and whose threads would wait for them."""
    for process in list(_running):
        with suppress(ProcessLookupError, PermissionError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


_running: WeakSet[subprocess.Popen[bytes]] = WeakSet()


def _devices() -> list[str]:
    return [path for path in visible.DEVICES if Path(path).exists()]


def _bubblewrap(view: View) -> list[str]:
    # One capability is kept for the moment in which the process mounts its own folder, with a limit on the number of
    # files, which bubblewrap cannot set; it is given up before any job.
    command = [_found("bwrap"), "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    command += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]
    for link, target in view.links:
        command += ["--symlink", target, link]
    for path in view.system:
        command += ["--ro-bind", path, path]
    for path in view.hidden:
        command += ["--tmpfs", path]
    for path in view.shown:
        command += ["--ro-bind", path, path]
    for path in _devices():
        command += ["--dev-bind", path, path]
    for path in (*view.hidden, "/"):
        command += ["--remount-ro", path]
    at = command.index("--remount-ro")
    return [*command[:at], "--dir", WORK, *command[at:], "--setenv", "PYTHONHASHSEED", "0", "--"]


def _namespaces(view: View) -> list[str]:
    inside = ["--user", "--map-root-user", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    return [_found("unshare"), *inside, "--"]


def _nothing(view: View) -> list[str]:
    return []


def _found(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise OSError(f"{program} is not installed")
    return found


_COMMANDS = {BUBBLEWRAP: _bubblewrap, NAMESPACES: _namespaces, NONE: _nothing}


@lru_cache(maxsize=8)
def works(kind: str) -> bool:
    """Whether a process behind these walls can run a program here; tried once, for real."""
    from blade.gym.sandbox.child import Child, Gone

    try:
        with Child(start(kind, visible.view()), seconds=_TRIAL_SECONDS) as child:
            told, _ = child.run({"job": "script", "code": "print(6 * 7)", "cpu": 10, "wall": _TRIAL_SECONDS})
            return bool(told["output"] == "42\n")
    except (OSError, Gone):
        return False


def available() -> str:
    """The best walls that can be had here; `none` where there are no others."""
    return next((kind for kind in KINDS if works(kind)), NONE)


def for_programs() -> str:
    """The walls for a model's program; raises RequestError where there are none and the user has not allowed that."""
    kind = available()
    if kind == NONE and not _unsafe_allowed:
        raise RequestError(
            f"a model's program is not run here: this machine has no sandbox for it, so {OPEN_WITHOUT}",
            hint=f"{HOW_TO_GET_ONE}; --unsafe-sandbox runs it all the same",
        )
    return kind


def described() -> Mapping[str, str]:
    """What keeps a program in, for people."""
    kind = available()
    return {"walls": kind, "open": OPEN_WITHOUT if kind == NONE else ""}


def view_for(module: str | None, packages: Iterable[str], reads: Iterable[str]) -> View:
    """What a process that runs our module, or a program where there is none, may see."""
    return visible.view(packages=packages, reads=reads, ours=module is not None)
