"""What a child process gives up before it touches what a model wrote: memory, processor, files, processes and network.

Two walls. The kernel's: limits on resources, and, where `blade.gym.sandbox.process` could get them, namespaces without a
network and without other processes. Python's: an audit hook, which cannot be taken off again, that refuses files outside
the child's folder, sockets, other programs, signals and foreign code. Foreign code that is already loaded is not held by
the second.
"""

from __future__ import annotations

import os
import resource
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

_REFUSED = (
    "socket.",
    "subprocess.",
    "os.fork",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.kill",
    "os.startfile",
    "os.chroot",
    "pty.",
    "ctypes.",
    "signal.pthread_kill",
    "sqlite3.load_extension",
    "sqlite3.enable_load_extension",
    "syslog.",
    "fcntl.",
    "urllib.",
    "ftplib.",
    "http.client.",
    "smtplib.",
)
"""Audit events, by how they begin, that are refused whatever they are about."""
_WRITES = frozenset(
    ("remove", "rename", "rmdir", "mkdir", "link", "symlink", "truncate", "chmod", "chown", "utime", "setxattr")
)
"""Functions of `os` that change files: refused outside the child's folder."""
_READS = frozenset(("listdir", "scandir", "chdir", "walk"))
_HARMLESS_FILES = frozenset(("/dev/null", "/dev/urandom", "/dev/random"))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a child may use."""

    seconds: float = 10.0
    """Wall time; its parent ends it then."""
    megabytes: int = 1024
    """Address space."""
    written: int = 16
    """Megabytes of one file."""
    processor: bool = True
    """Whether `seconds` also limits processor time: not for a worker that answers many questions."""


class Refused(PermissionError):
    """Something that model-written code may not do."""


def limit(limits: Limits) -> None:
    """Give up resources. Called in the child."""
    with suppress(ValueError, OSError):  # macOS does not limit the address space
        _at_most(resource.RLIMIT_AS, limits.megabytes << 20)
    _at_most(resource.RLIMIT_FSIZE, limits.written << 20)
    _at_most(resource.RLIMIT_CORE, 0)
    _at_most(resource.RLIMIT_NOFILE, 64)
    if limits.processor:
        _at_most(resource.RLIMIT_CPU, int(limits.seconds) + 1)


def a_while(seconds: float) -> None:
    """Allow this process that much more processor time: whoever should end it may have died."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, hard))


def _at_most(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (wanted, wanted))


def lock(folder: Path, also: Sequence[str] = ()) -> None:
    """Give up files outside `folder`, other programs and the network, for as long as this process lives.

    What lies below `also` may be read.
    """
    _close_side_doors()
    sys.addaudithook(_hook(_inside(folder, also)))


def _close_side_doors() -> None:
    """Ways to start a program that raise no audit event. Foreign functions are loaded first: numpy cannot do without them."""
    import _posixsubprocess
    import ctypes  # noqa: F401
    import subprocess

    def refuse(*_: object) -> NoReturn:
        raise Refused("model-written code may not start a program")

    for module, name in ((_posixsubprocess, "fork_exec"), (subprocess, "_fork_exec")):
        if hasattr(module, name):
            setattr(module, name, refuse)


def _inside(folder: Path, also: Sequence[str]) -> Callable[[object, bool], bool]:
    """Whether a path may be opened: anything in the folder; to read, also what was named and what Python is made of."""
    own = os.path.realpath(folder)
    roots = {os.path.realpath(path) for path in (*sysconfig.get_paths().values(), *sys.path, sys.prefix) if path}
    roots |= {os.path.realpath(sys.base_prefix), "/usr/share/zoneinfo"}
    readable = tuple(sorted(root for root in roots if root not in ("/", os.path.realpath(Path.home()))))
    readable += tuple(os.path.realpath(path) for path in also)
    realpath = os.path.realpath

    def allowed(path: object, writes: bool) -> bool:
        if isinstance(path, int):
            return True
        named = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        if named in _HARMLESS_FILES:
            return True
        real = realpath(named or ".")
        if _below(real, own):
            return True
        return not writes and any(_below(real, root) for root in readable)

    return allowed


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _hook(allowed: Callable[[object, bool], bool]) -> Callable[[str, tuple[Any, ...]], None]:
    busy = [False]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED):
            raise Refused(f"model-written code may not use {event}")
        wanted = _asked(event, arguments)
        if wanted is None or busy[0]:
            return
        busy[0] = True
        try:
            fine = allowed(*wanted)
        finally:
            busy[0] = False
        if not fine:
            raise Refused("model-written code may not reach files outside its folder")

    return hook


def _asked(event: str, arguments: tuple[Any, ...]) -> tuple[object, bool] | None:
    """The path that an event is about, and whether it would be changed; None for events about no path."""
    if event in ("open", "sqlite3.connect") and arguments:
        return _opened(event, arguments)
    family, _, function = event.partition(".")
    if family != "os" or not arguments:
        return None
    if function in ("rename", "link", "symlink") and len(arguments) > 1:
        return arguments[1], True
    if function in _WRITES or function in _READS:
        return (arguments[0] if arguments[0] is not None else "."), function in _WRITES
    return None


def _opened(event: str, arguments: tuple[Any, ...]) -> tuple[object, bool] | None:
    path = arguments[0]
    if event == "sqlite3.connect":
        named = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)
        if named.startswith("file:"):
            # SQLite reads %2F as a slash.
            return unquote(named.removeprefix("file:").partition("?")[0].partition("#")[0]), False
        return None if named == ":memory:" else (named, False)
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    return path, bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))


def settle(folder: Path, limits: Limits, also: Sequence[str] = ()) -> None:
    """All of it: resources, then files, programs and network; temporary files go to the folder."""
    tempfile.tempdir = str(folder)
    limit(limits)
    lock(folder, also)
