"""How much of one input is held in memory at a time; what is larger becomes a problem with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

from blade.model.errors import RequestError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,6}) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)


class ReadLimits(Struct, frozen=True, kw_only=True):
    """Bytes beyond which a line, a document or an unpacked file is not read."""

    line: int = 64 << 20
    """Of a line, and of a sample in an archive. Rows of real runs stay below 1 MB; one with a hundred screenshots of
    half a megabyte still fits. Read as values, a row takes several times its bytes."""
    unpacked: int = 32 << 30
    """Of what a compressed file or an archive holds: a thousand tasks with 32 repeats of 1 MB. It is read piece by piece,
    so this bounds time and not memory."""

    @property
    def document(self) -> int:
        """Of a JSON document or a table, which is held as a whole: it has many rows, and four of the longest fit."""
        return 4 * self.line


DEFAULT_LIMITS = ReadLimits()
_CURRENT: ContextVar[ReadLimits] = ContextVar("limits", default=DEFAULT_LIMITS)


@contextmanager
def using_limits(limits: ReadLimits) -> Iterator[None]:
    """Within it, files are read up to these limits."""
    before = _CURRENT.set(limits)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def read_limits() -> ReadLimits:
    """The limits up to which files are read now."""
    return _CURRENT.get()


def size_of(text: str) -> int:
    """The bytes that a text such as `64MB` or `2 GB` names; raises when it names none."""
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) * _UNITS[found[2].upper()] if found is not None else 0
    if not size:
        raise RequestError(f"{text!r} is no size", hint="give a number of bytes, or one with KB, MB, GB or TB: 256MB")
    return size


def size_text(size: int) -> str:
    """The size as people write it, in the largest unit of which it is a whole number."""
    unit = next((unit for unit in ("T", "G", "M", "K") if size and size % _UNITS[unit] == 0), "")
    return f"{size // _UNITS[unit]:,} {unit}B" if unit else f"{size:,} bytes"


def too_long(what: str) -> str:
    """Why a line or a sample was not read, and what to do."""
    return f"{what} is longer than {size_text(read_limits().line)} and was not read; shorten it, or raise --max-line"


def too_large(what: str) -> str:
    """Why a document was not read, and what to do."""
    limits = read_limits()
    most, line = size_text(limits.document), size_text(limits.line)
    return (
        f"{what} is larger than {most} (four times --max-line, {line}) and was not read; split it, or raise --max-line"
    )


def unpacks_too_far(what: str) -> str:
    """Why the rest of what was compressed is not read, and what to do."""
    most = size_text(read_limits().unpacked)
    return f"{what} unpacks to more than {most}, and the rest was not read; split it, or raise --max-unpacked"
