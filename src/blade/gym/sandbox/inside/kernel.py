"""The kernel's own walls, called through libc: mounts, capabilities, Landlock and seccomp. Linux only.

Every function either does what it says or raises OSError, but for `landlock` and `seccomp`, which give False where the
kernel or the processor has no such thing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable, Sequence

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS = 4, 22, 24, 28, 38
_SECURE_NO_ROOT = 0b1111
"""Being root gives no capabilities, and neither bit can be taken back."""

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


def enter_root(folder: str) -> None:
    """Make `folder` the root and let go of the old one: nothing of it has a name any more."""
    os.chdir(folder)
    _check(_libc.syscall(_PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")


def drop_privileges() -> None:
    """Give up every capability for good, the right to gain any, and being read by processes of the same user."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 and ctypes.get_errno() == errno.EINVAL:
            break
    _libc.prctl(_PR_SET_SECUREBITS, _SECURE_NO_ROOT, 0, 0, 0)  # refused to those who have nothing to give up
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _check(_libc.capset(header, nothing), "capset")
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")


# Landlock: who may touch which files. Bits of include/uapi/linux/landlock.h.
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_FILE_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NO_TCP, _OWN_SCOPE = 0b11, 0b11
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446


def landlock(readable: Iterable[str], writable: Iterable[str]) -> bool:
    """Allow files below these alone, no program to be started, no TCP, no signals to others; False where there is none."""
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
            _allow(rules, path, every & ~1)  # all but starting programs
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


# seccomp: which calls the kernel answers at all.
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE, _PRLIMIT = {"x86_64": 56, "aarch64": 220}, {"x86_64": 302, "aarch64": 261}
_CLONE_THREAD = 0x10000
_FIRST_UNKNOWN = 450
"""Calls newer than the list below are answered with ENOSYS, as an older kernel would."""
_REFUSED: dict[str, Sequence[int]] = {
    # Programs and processes; signals, memory and files of others; sockets; namespaces and mounts; shared memory, which no
    # limit counts; keys, tracing, modules, clocks, swap, and the rest that only administrators need.
    "x86_64": (
        *(57, 58, 59, 322),
        *(62, 200, 234, 129, 297, 101, 310, 311, 312),
        *(41, 42, 43, 49, 50, 288),
        *(155, 161, 165, 166, 272, 308),
        *(29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240),
        *(103, 134, 135, 136, 139, 153, 154, 156, 159, 163, 164, 167),
        *(168, 169, 170, 171, 172, 173, 174, 175, 176, 179, 180),
        *(212, 227, 237, 246, 248, 249, 250, 256, 279, 298, 300, 303, 304, 305, 313, 320, 321, 323),
    ),
    "aarch64": (
        *(221, 281),
        *(129, 130, 131, 138, 240, 117, 270, 271, 272),
        *(198, 200, 201, 202, 203, 242),
        *(39, 40, 41, 51, 97, 268),
        *(180, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196),
        *(60, 89, 92, 104, 105, 106, 112, 116, 142, 161, 162, 170, 171, 217, 218, 219, 224, 225),
        *(235, 238, 239, 241, 262, 264, 265, 266, 273, 280, 282, 294),
    ),
}
_REFUSED_EVERYWHERE = (424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 447, 448)
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)


def _filter(machine: str) -> bytes:
    """A program for the kernel: refuse what is listed, allow threads but no processes, and its own limits alone."""
    refuse, missing = _instruction(_RETURN, _ERRNO | errno.EPERM), _instruction(_RETURN, _ERRNO | errno.ENOSYS)
    made = [
        _instruction(_LOAD, _MACHINE),
        _instruction(_EQUAL, _ARCHITECTURE[machine], 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
    ]
    memfd = 319 if machine == "x86_64" else 279
    for number in (435, memfd):  # clone3 hides its flags behind a pointer: libc falls back to clone
        made += [_instruction(_EQUAL, number, 0, 1), missing]
    for number in (*_REFUSED[machine], *_REFUSED_EVERYWHERE):
        made += [_instruction(_EQUAL, number, 0, 1), refuse]
    made += [_instruction(_AT_LEAST, _FIRST_UNKNOWN, 0, 1), missing]  # also the x32 calls, which begin at 1 << 30
    made += [_instruction(_EQUAL, _CLONE[machine], 0, 4), _instruction(_LOAD, _FIRST_ARGUMENT)]
    made += [_instruction(_ANY_BIT, _CLONE_THREAD, 0, 1), _instruction(_RETURN, _ALLOW), refuse]
    made += [_instruction(_EQUAL, _PRLIMIT[machine], 0, 3), _instruction(_LOAD, _FIRST_ARGUMENT)]
    made += [_instruction(_EQUAL, 0, 0, 1), _instruction(_RETURN, _ALLOW)]
    # Falls through for any other call, and for limits of another process.
    made += [_instruction(_LOAD, _NUMBER), _instruction(_EQUAL, _PRLIMIT[machine], 0, 1), refuse]
    return b"".join([*made, _instruction(_RETURN, _ALLOW)])


def seccomp() -> bool:
    """Let the kernel refuse what no program needs that only computes; False where that cannot be had."""
    machine = platform.machine()
    if machine not in _REFUSED:
        return False
    program = _filter(machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    about = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
    return bool(_libc.prctl(_PR_SET_SECCOMP, 2, about, 0, 0) == 0)
