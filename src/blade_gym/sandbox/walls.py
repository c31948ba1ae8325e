"""Which isolation this machine can put around a process, and how a process is started in it.

`bubblewrap` and `namespaces` (by `unshare`) give the same view: a root that holds Python and named packages, read-only, a
small file system in memory, no network, no other process, none of the user's environment. `none` is for parsing only: a
program that a model wrote runs without isolation only where the user allowed it (`allow_unsafe`).
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from blade.model.errors import RequestError
from blade_gym.sandbox import visible
from blade_gym.sandbox.visible import View

BUBBLEWRAP, NAMESPACES, NONE = "bubblewrap", "namespaces", "none"
KINDS = (BUBBLEWRAP, NAMESPACES)
WORK = "/sandbox"
MEGABYTES_OF_FILES = 64
NUMBER_OF_FILES = 2000
_TRIAL_SECONDS = 20.0
_FIRST_USER, _USERS = 1_900_000_000, 1 << 27
"""Numbers of users that no system gives to anybody. One is drawn for each sandbox: threads are counted by user."""
_STARTER = ThreadPoolExecutor(1, "sandbox")
"""A thread that lives as long as this process: the kernel ends a sandboxed process with the thread that started it."""


def _after_fork() -> None:
    """A forked process has no such thread yet."""
    global _STARTER  # noqa: PLW0603 - threads do not cross a fork
    _STARTER = ThreadPoolExecutor(1, "sandbox")


os.register_at_fork(after_in_child=_after_fork)
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "PATH": os.defpath,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
HOW_TO_GET_ONE = (
    "on Linux install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap) or allow user namespaces; "
    "elsewhere use a Linux container or machine"
)
OPEN_WITHOUT = "they can read your files and use the network; a hostile one can change files and start programs"

_unsafe_allowed = False


def allow_unsafe(allowed: bool = True) -> None:
    """Let programs run without isolation where this machine has none, for the rest of this process."""
    global _unsafe_allowed  # noqa: PLW0603 - the user decides once for the whole process
    _unsafe_allowed = allowed


def unsafe() -> bool:
    """Whether programs run without isolation here, because the user allowed it."""
    return _unsafe_allowed and available() == NONE


@dataclass(frozen=True, kw_only=True)
class Started:
    """A started process that has not reported yet that it is ready."""

    process: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]
    settings: bytes
    """The first line to send to it."""

    def __post_init__(self) -> None:
        _running.add(self.process)

    def end(self) -> None:
        """End the process with everything that it started, and leave nothing behind."""
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
    """A process isolated in this way; it answers questions with `module`, one of ours, or runs programs if that is None."""
    user = _user() if kind != NONE else None
    command = [*_COMMANDS[kind](view, user), visible.interpreter(), "-P", "-s", "-S", "-B", "-X", "utf8"]
    folder = tempfile.TemporaryDirectory(prefix="blade-", ignore_cleanup_errors=True)
    work = WORK if kind != NONE else folder.name
    root = {"at": folder.name, "work": work, "devices": _devices(), "links": view.links, "system": view.system}
    settings: dict[str, Any] = {
        "walls": kind,
        "work": work,
        "root": {**root, "hidden": view.hidden, "shown": view.shown},
        "path": view.path,
        "environment": {**_ENVIRONMENT, "HOME": work, "TMPDIR": work},
        "megabytes_of_files": MEGABYTES_OF_FILES,
        "number_of_files": NUMBER_OF_FILES,
        "module": module,
        "user": user,
    }
    try:
        process = _STARTER.submit(
            subprocess.Popen,
            [*command, str(visible.INSIDE / "supervisor.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"LC_ALL": "C.UTF-8", "PATH": os.defpath, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        ).result()
    except OSError:
        folder.cleanup()
        raise
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


def _user() -> int | None:
    """The user that a sandbox of root's runs as: a number of its own, which owns no file and whose processes are counted apart.

    None where this process is not root, or may not become another user: then the user stays the same, in a namespace.
    """
    needed = 1 << 6 | 1 << 7 | 1 << 21  # CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN
    try:
        status = Path("/proc/self/status").read_text()
        first, _, count = map(int, Path("/proc/self/uid_map").read_text().split()[:3])
    except (OSError, ValueError):
        return None
    held = int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff")), 16)
    if os.geteuid() != 0 or held & needed != needed or first != 0 or count <= _FIRST_USER + _USERS:
        return None
    return _FIRST_USER + secrets.randbelow(_USERS)


def _bubblewrap(view: View, user: int | None) -> list[str]:
    # A few capabilities are kept for the moment in which the process mounts its own folder, with a limit on the number of
    # files, which bubblewrap cannot set, and becomes another user; they are given up before any job.
    command = [
        _found("bwrap"),
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    command += ["--unshare-user"] if user is None else []
    command += ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    for capability in ("CAP_SYS_ADMIN", "CAP_SETPCAP", *(() if user is None else ("CAP_SETUID", "CAP_SETGID"))):
        command += ["--cap-add", capability]
    for link, target in view.links:
        command += ["--symlink", target, link]
    for path in view.system:
        command += [*_folders_above(path), "--ro-bind", path, path]
    for path in view.hidden:
        command += ["--tmpfs", path]
    for path in view.shown:
        command += [*_folders_above(path), "--ro-bind", path, path]
    for path in _devices():
        command += [*_folders_above(path), "--dev-bind", path, path]
    command += ["--perms", "0755", "--dir", WORK]
    for path in (*view.hidden, "/"):
        command += ["--remount-ro", path]
    return [*command, "--setenv", "PYTHONHASHSEED", "0", "--"]


def _folders_above(path: str) -> Iterator[str]:
    """Make the folders above a path such that every user can pass; bubblewrap's own would be for one user only."""
    for folder in reversed(Path(path).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(folder))


def _namespaces(view: View, user: int | None) -> list[str]:
    mapped = ["--user", "--map-root-user"] if user is None else []
    return [_found("unshare"), *mapped, "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--"]


def _nothing(view: View, user: int | None) -> list[str]:
    return []


def _found(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise OSError(f"{program} is not installed")
    return found


_COMMANDS = {BUBBLEWRAP: _bubblewrap, NAMESPACES: _namespaces, NONE: _nothing}


@lru_cache(maxsize=8)
def works(kind: str) -> bool:
    """Whether a program can be run in this isolation here; tried once, for real."""
    from blade_gym.sandbox.child import Child, ProcessDied

    try:
        with Child(start(kind, visible.view()), seconds=_TRIAL_SECONDS) as child:
            ended, _ = child.run({"job": "script", "code": "print(6 * 7)", "cpu": 10, "wall": _TRIAL_SECONDS})
            return bool(ended["output"] == "42\n")
    except (OSError, ProcessDied):
        return False


def available() -> str:
    """The best isolation that this machine has."""
    return next((kind for kind in KINDS if works(kind)), NONE)


def for_programs() -> str:
    """The isolation for a model's program; raises RequestError where there is none and the user has not allowed that."""
    kind = available()
    if kind == NONE and not _unsafe_allowed:
        raise RequestError(
            f"programs that a model wrote are not run: this machine has no sandbox for them. Without one, {OPEN_WITHOUT}",
            hint=f"{HOW_TO_GET_ONE}; --unsafe-sandbox runs them anyway",
        )
    return kind


def view_for(module: str | None, packages: Iterable[str], reads: Iterable[str]) -> View:
    """What a process that runs our module, or a program where there is none, may see."""
    return visible.view(packages=packages, reads=reads, ours=module is not None)
