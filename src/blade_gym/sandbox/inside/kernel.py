"""The kernel's own isolation, called through libc: mounts, capabilities, Landlock and seccomp. Linux only.

Every function does what it says or raises OSError, except `landlock` and `seccomp`, which return False where the kernel
or the processor does not have it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable

from blade_gym.sandbox.inside.syscalls import ALLOWED, CONDITIONAL, MACHINES, NEWEST

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000  # the call has one number on every processor
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS = 4, 22, 24, 28, 38
_SECURE_NO_ROOT = 0b1111
"""Being root gives no capabilities, and this cannot be undone."""

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """mount(2)."""
    data = options.encode() if options else None
    given = (os.fsencode(source), os.fsencode(target), kind.encode() if kind else None)
    _check(_libc.mount(*given, ctypes.c_ulong(flags), data), f"mount {target}")


def make_read_only(target: str) -> None:
    """Make a bind mount read-only with everything mounted below it, where the kernel can; else the mount alone."""
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    path = os.fsencode(target)
    if _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, len(attributes)) == 0:
        return
    # A user namespace may not take off the flags of the file system below.
    kept = MS_NOEXEC if os.statvfs(target).f_flag & os.ST_NOEXEC else 0
    kept |= MS_NODEV if os.statvfs(target).f_flag & os.ST_NODEV else 0
    mount("none", target, None, MS_RDONLY | MS_NOSUID | MS_REMOUNT | MS_BIND | kept)


def enter_root(folder: str) -> None:
    """Make `folder` the root and detach the old one, so that nothing in it has a path any more."""
    os.chdir(folder)
    number = CONDITIONAL["pivot_root"][MACHINES.index(platform.machine())]
    _check(_libc.syscall(number, b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")


def drop_privileges(user: int | None) -> None:
    """Become this user, if one is named, and give up every capability and the right to gain any.

    Processes of the same user can no longer read this one.
    """
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 and ctypes.get_errno() == errno.EINVAL:
            break
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    else:
        _libc.prctl(_PR_SET_SECUREBITS, _SECURE_NO_ROOT, 0, 0, 0)  # refused where there is nothing to give up
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _check(_libc.capset(header, nothing), "capset")
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")


# Landlock: which files a process may touch. Bits of include/uapi/linux/landlock.h.
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_FILE_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NO_TCP, _OWN_SCOPE = 0b11, 0b11
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every processor


def landlock(readable: Iterable[str], writable: Iterable[str]) -> bool:
    """Allow files below these paths only, no new programs, no TCP, no signals to others; False where there is no Landlock."""
    version = _libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    every = (1 << _FILE_BITS.get(version, 16)) - 1
    attributes = struct.pack("QQQ", every, _NO_TCP if version >= 4 else 0, _OWN_SCOPE if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _check(_libc.syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    try:
        for path in readable:
            _allow(rules, path, _READ_FILE | _READ_DIR)
        for path in writable:
            _allow(rules, path, every & ~1)  # everything but starting programs
        _check(_libc.syscall(_RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    finally:
        os.close(rules)
    return True


def _allow(rules: int, path: str, access: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            access &= _READ_FILE | _WRITE_FILE | _TRUNCATE
        rule = struct.pack("=Qi", access, opened)
        _check(_libc.syscall(_ADD_RULE, rules, 1, rule, 0), f"landlock rule for {path}")
    finally:
        os.close(opened)


# seccomp: which system calls the kernel answers at all. Instructions and offsets of include/uapi/linux/{filter,seccomp}.h.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSE, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
_CLONE_THREAD, _CLONE_NEW_NAMESPACES = 0x10000, 0x7E020080
_RLIMIT_STACK = 3
_TERMINAL_QUESTIONS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Requests of ioctl: is it a terminal and how large, bytes that can be read, (not) blocking, (not) closed on exec."""
_SENDS_SIGNALS = (8, 10, 15)
"""Commands of fcntl that have the kernel signal any process of this user when a pipe is ready."""


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)


def _argument(place: int, *, upper: bool = False) -> bytes:
    """Load half of an argument of the call."""
    return _instruction(_LOAD, _FIRST_ARGUMENT + 8 * place + 4 * upper)


def _if_equal(value: int, result: int) -> list[bytes]:
    """Return `result` if what was loaded last is `value`."""
    return [_instruction(_EQUAL, value, 0, 1), _instruction(_RETURN, result)]


def _unless_equal(value: int, result: int) -> list[bytes]:
    return [_instruction(_EQUAL, value, 1, 0), _instruction(_RETURN, result)]


def _conditions() -> dict[str, list[bytes]]:
    """What decides about a call by its arguments; each list ends with a result."""
    allow, refuse = _instruction(_RETURN, _ALLOW), _instruction(_RETURN, _REFUSE)
    return {
        # clone3 keeps its flags behind a pointer, where a filter cannot see them; libc falls back to clone.
        "clone3": [_instruction(_RETURN, _UNKNOWN)],
        "clone": [
            _argument(0),
            *(_instruction(_ANY_BIT, _CLONE_NEW_NAMESPACES, 0, 1), refuse),
            *(_instruction(_ANY_BIT, _CLONE_THREAD, 1, 0), refuse),
            allow,
        ],
        "ioctl": [_argument(1), *(part for value in _TERMINAL_QUESTIONS for part in _if_equal(value, _ALLOW)), refuse],
        "fcntl": [_argument(1), *(part for value in _SENDS_SIGNALS for part in _if_equal(value, _REFUSE)), allow],
        # Programs with deep recursion raise the limit of their stack. Lowering another limit would end the program by
        # SIGKILL, as a machine without memory does, which is no verdict.
        "setrlimit": [_argument(0), *_unless_equal(_RLIMIT_STACK, _REFUSE), allow],
        "prlimit64": [
            *(_argument(0), *_unless_equal(0, _REFUSE)),
            *(_argument(1), *_if_equal(_RLIMIT_STACK, _ALLOW)),
            *(_argument(2), *_unless_equal(0, _REFUSE)),
            *(_argument(2, upper=True), *_unless_equal(0, _REFUSE)),
            allow,
        ],
    }


def _filter(machine: str) -> bytes:
    """A program for the kernel: allow what is listed, some calls by their arguments, and refuse the rest."""
    column = MACHINES.index(machine)
    program = [
        *(_instruction(_LOAD, _MACHINE), *_unless_equal(_ARCHITECTURE[machine], _KILL)),
        _instruction(_LOAD, _NUMBER),
        # Also the x32 calls, which begin at 1 << 30. An older kernel would not know them either, so libraries fall back.
        *(_instruction(_AT_LEAST, NEWEST + 1, 0, 1), _instruction(_RETURN, _UNKNOWN)),
    ]
    for numbers in ALLOWED.values():
        if (number := numbers[column]) is not None:
            program += _if_equal(number, _ALLOW)
    for name, decision in _conditions().items():
        if (number := CONDITIONAL[name][column]) is not None:
            program += [_instruction(_EQUAL, number, 0, len(decision)), *decision]
    return b"".join([*program, _instruction(_RETURN, _REFUSE)])


def seccomp() -> bool:
    """Have the kernel refuse every call that a program does not need to compute; False where there is no seccomp."""
    machine = platform.machine()
    if machine not in _ARCHITECTURE:
        return False
    program = _filter(machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    about = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
    return bool(_libc.prctl(_PR_SET_SECCOMP, 2, about, 0, 0) == 0)
