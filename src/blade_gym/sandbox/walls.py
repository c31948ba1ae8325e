"""Which isolation this machine can put around a process, how a process is started in it, and how its parent talks to it.

`bubblewrap` and `namespaces` (by `unshare`) give the same view: a root that holds Python and named packages, read-only, a
small file system in memory, no network, no other process, none of the user's environment. `none` is for parsing only: a
program that a model wrote runs without isolation only where the user allowed it (`allow_unsafe`).

Jobs go into a process, messages and an account of how each job ended come out. Whatever a job sends is data, even if it
looks like a verdict. All verdicts are formed on this side.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self
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
START_SECONDS = 60.0
"""A machine under load may take that long to load what a verifier needs."""
_LIMITS = {"output_bytes": 4 << 20, "message_bytes": 32 << 20, "total_bytes": 512 << 20, "megabytes": 2048}
"""Of a job: what it prints, one message, all messages, memory."""
_CHUNK = 1 << 16
_GRACE = 30.0
"""Seconds beyond a job's own limit after which the process counts as dead."""
_WAITED = 0.25
"""Share of a job's time during which processes waited for a processor, from which on the machine may have starved it."""
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


class ProcessDied(Exception):
    """The sandboxed process ended or stopped answering, so its job has no result."""


def _seconds_waited() -> float | None:
    """How long processes have waited for a processor since this machine (or container) started; None if it keeps no count."""
    for path in ("/sys/fs/cgroup/cpu.pressure", "/proc/pressure/cpu"):
        with suppress(OSError, ValueError, IndexError):
            return int(Path(path).read_text().split("total=")[1].split()[0]) / 1e6
    return None


class Child:
    """One process, ready for jobs, one after the other."""

    def __init__(self, started: Started, *, seconds: float = START_SECONDS) -> None:
        self._started = started
        assert started.process.stdin is not None
        assert started.process.stdout is not None
        self._to, self._from = started.process.stdin.fileno(), started.process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._received = bytearray()
        self._waited_before: float | None = None
        try:
            self._write(started.settings, time.monotonic() + seconds)
            kind, problem = self._line(time.monotonic() + seconds)
            if kind != b"R":
                raise ProcessDied(f"the process could not get ready: {problem.decode(errors='replace')[:500]}")
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

    def run(self, job: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """How a job ended, and its first message, None if there was none. Raises ProcessDied."""
        self.begin(job)
        first: Any = None
        while True:
            line, ended = self.receive(float(job["wall"]))
            if ended is not None:
                return ended, first
            first = first if first is not None else _decoded(line)

    def begin(self, job: Mapping[str, Any]) -> None:
        """Start a job; limits that it does not name are the usual ones."""
        self._waited_before = _seconds_waited()
        self._write(b"J" + json.dumps({**_LIMITS, **job}).encode() + b"\n", time.monotonic() + _GRACE)

    def send(self, line: bytes) -> None:
        """Send a message, a line of JSON, to the running job."""
        self._write(b"M" + line + b"\n", time.monotonic() + _GRACE)

    def stop(self) -> dict[str, Any]:
        """End the running job; returns how it ended. Raises ProcessDied."""
        self._write(b"K\n", time.monotonic() + _GRACE)
        ended = None
        while ended is None:
            _, ended = self.receive(0.0)
        return ended

    def receive(self, seconds: float) -> tuple[bytes, dict[str, Any] | None]:
        """The next message of the running job as it was written, or how the job ended. Raises ProcessDied."""
        kind, line = self._line(time.monotonic() + seconds + _GRACE)
        return (line, None) if kind == b"M" else (b"", self._ended(json.loads(line)))

    def _ended(self, account: dict[str, Any]) -> dict[str, Any]:
        """How the job ended; one that got little processor time on an idle machine was waiting of its own accord."""
        if account["why"] == "starved" and self._waited_before is not None:
            waited = (_seconds_waited() or self._waited_before) - self._waited_before
            if waited < _WAITED * account["wall"]:
                return {**account, "why": "wall"}
        return account

    def _write(self, line: bytes, deadline: float) -> None:
        left = memoryview(line)
        while left:
            ready = self._wait(deadline, select.POLLOUT)
            if not ready:
                raise ProcessDied("the process takes no more input")
            if self._from in ready:  # or both sides could wait for each other
                self._read()
            if self._to not in ready:
                continue
            try:
                left = left[os.write(self._to, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as problem:
                raise ProcessDied(f"the process has ended: {problem}") from None

    def _line(self, deadline: float) -> tuple[bytes, bytes]:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if not self._wait(deadline, 0):
                raise ProcessDied("the process does not answer")
            self._read()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line[:1], line[1:]

    def _wait(self, deadline: float, for_writing: int) -> set[int]:
        """The ends that are ready before the deadline."""
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        if for_writing:
            poll.register(self._to, for_writing)
        return {end for end, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)}

    def _read(self) -> None:
        more = os.read(self._from, _CHUNK)
        if not more:
            raise ProcessDied("the process has ended")
        self._received += more


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as problem:
        return {"unreadable": str(problem)}


@lru_cache(maxsize=8)
def works(kind: str) -> bool:
    """Whether a program can be run in this isolation here; tried once, for real."""
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
