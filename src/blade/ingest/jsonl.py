"""Lines of a JSON-lines file, plain or compressed, with the place of each; a byte range can be read alone."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, chain, count
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import msgspec
import zstandard

from blade.model.limits import read_limits, too_large, too_long, unpacks_too_far
from blade.model.rollout import RowSource

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 20
_BREAKS = (EOFError, OSError, zlib.error, zstandard.ZstdError)
TOGETHER = 1 << 21
"""Bytes of lines that are handed on together."""
_ZSTD_BLOCK = 1 << 12
"""Bytes of a zstd file that are unpacked together: four of them can stand for 128 KB, so no more than 128 MB come of it."""
_MOST_LINES = 20_000
"""Lines that are handed on together, however short: each takes a hundred bytes beside its own."""
_SKIPPED = 1 << 20
"""Bytes of a line that is too long which are passed over at a time."""
NOT_REGULAR = "it is no regular file but a pipe, a socket, a device or a folder"


class Record(msgspec.Struct, frozen=True, gc=False):
    """The bytes of one row and where they stand; `line` counts from 1 within the byte range."""

    data: bytes
    """Empty for a blank line, which counts as a line and holds no row."""
    line: int | None
    offset: int | None
    member: str | None = None
    broken: str = ""
    """Why the bytes could not be had."""
    problems: tuple[str, ...] = ()
    """What could not be used of the files that the row was put together from."""


def source_of(record: Record, artifact: str) -> RowSource:
    """Where a record stands."""
    return RowSource(
        artifact=artifact, member=record.member, offset=record.offset, length=len(record.data), line=record.line
    )


class Torn(Exception):
    """An artifact that ends or breaks before its end; rows read so far are good."""


class _Frames(io.RawIOBase):
    """Decompressed zstd frames. Unlike the library's reader it notices a file that ends inside a frame."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._waiting = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._ready:
            if not self._more():
                return 0
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _more(self) -> bool:
        data = self._waiting or self._file.read(_ZSTD_BLOCK)
        if not data:
            if self._frame is not None:
                raise EOFError("the file ends inside a compressed frame")
            return False
        self._waiting = b""
        self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._ready = memoryview(self._frame.decompress(data))
        if self._frame.eof:
            self._waiting, self._frame = self._frame.unused_data, None
        return True

    def close(self) -> None:
        self._file.close()
        super().close()


def open_regular(path: Path, buffering: int = -1) -> IO[bytes]:
    """The bytes of a regular file; raises `OSError` for anything else, at once: a pipe without a writer would never open."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    # Another file may have taken its place since: no opening waits, whatever it is.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    return os.fdopen(handle, "rb", buffering=buffering)


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a regular file, decompressed by what its first bytes say, whatever its name."""
    file = open_regular(path, _BLOCK)
    kind = _magic(file)
    if kind == _GZIP:
        return cast(IO[bytes], _Gzip(file))
    if kind == _ZSTD:
        return cast(IO[bytes], io.BufferedReader(_Frames(file), _BLOCK))
    return file


class _Gzip(gzip.GzipFile):
    """Decompressed gzip data; closes the file that it reads, too."""

    def __init__(self, packed: IO[bytes]) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


def is_compressed(path: Path) -> bool:
    """Whether a file must be read from its start."""
    with open_regular(path) as file:
        return _magic(file) != b""


def _magic(file: IO[bytes]) -> bytes:
    """What a file begins with that tells how it is compressed; it is read from its start afterwards."""
    start = file.read(4)
    file.seek(0)
    return next((magic for magic in (_GZIP, _ZSTD) if start.startswith(magic)), b"")


def whole_bytes(path: Path) -> bytes:
    """All bytes of a document or a table, decompressed; raises `Torn` when they are more than is read, or break off."""
    most = read_limits().document
    pieces, size = [], 0
    with open_bytes(path) as file, _breaks_told():
        # Not at once: room for all that may be read would be made, and taken back, for each small file.
        while size <= most and (piece := file.read(_BLOCK)):
            pieces.append(piece)
            size += len(piece)
    if size > most:
        raise Torn(too_large("the file"))
    return b"".join(pieces)


def first_bytes(path: Path, size: int) -> bytes:
    """Up to `size` bytes from the start; fewer when compressed data break off before; raises `Torn` when there are none."""
    found = b""
    try:
        with open_bytes(path) as file:
            while len(found) < size and (more := cast(io.BufferedReader, file).read1(size - len(found))):
                found += more
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        if not found:
            raise Torn(f"compressed data cannot be read ({error})") from None
    return found


def records(path: Path) -> Iterator[Record]:
    """Every line of the decompressed bytes."""
    return chain.from_iterable(neighbors(path))


def held_records(path: Path) -> Iterator[Record]:
    """Every line of a file whose lines are all held at once; raises `Torn` where they are more than a document may have."""
    size = 0
    for record in records(path):
        size += len(record.data)
        if size > read_limits().document:
            raise Torn(too_large("the file, which has to be read as a whole,"))
        yield record


def lines_at(path: Path, offsets: Sequence[int]) -> Iterator[bytes]:
    """The lines that begin at offsets, which ascend; empty where none does. Raises `Torn` where the data break before."""
    if is_compressed(path):
        # One pass up to the last row that is wanted; what a torn file loses comes after it.
        lines = records(path)
        for offset in offsets:
            yield next((record.data for record in lines if record.offset == offset), b"")
        return
    most = read_limits().line + 1
    with open_bytes(path) as file:
        for offset in offsets:
            file.seek(offset)
            yield file.readline(most)


def neighbors(path: Path, start: int = 0, end: int | None = None) -> Iterator[list[Record]]:
    """Lines that begin in [start, end) of the decompressed bytes, some neighbors at a time.

    A line that is longer than `ReadLimits` is passed over, and its record says so. Raises `Torn` where the data break,
    or where they unpack to more than is read.
    """
    limits = read_limits()
    with open_bytes(path) as file, _breaks_told():
        most = None if isinstance(getattr(file, "raw", None), io.FileIO) else limits.unpacked
        offset, number = start, 1
        if start:
            file.seek(start - 1)
            offset = start - 1 + _passed_over(file, None if end is None else end - start + 1)
        for lines in _together(file, limits.line):
            long = lines.pop() if lines and _is_cut(lines[-1], limits.line) else b""
            offsets = list(accumulate(map(len, lines), initial=offset))
            inside = len(lines) if end is None else min(len(lines), bisect_left(offsets, end))
            yield list(map(Record, _without_blanks(lines[:inside], is_first=offset == 0), count(number), offsets))
            offset, number = offsets[inside], number + inside
            if inside < len(lines) or (end is not None and offset >= end):
                return
            if long:
                yield [Record(b"", number, offset, broken=too_long("the line"))]
                left = [edge - offset - len(long) for edge in (end, most) if edge is not None]
                offset += len(long) + _passed_over(file, min(left, default=None))
                number += 1
            if most is not None and offset > most:
                raise Torn(unpacks_too_far("the file"))


def _is_cut(line: bytes, most: int) -> bool:
    """Whether a line was read only up to what is read of one."""
    return len(line) > most and not line.endswith(b"\n")


def _passed_over(file: IO[bytes], most: int | None) -> int:
    """Bytes up to the end of the line, which are not kept; somewhat more than `most` at most."""
    size = 0
    while (most is None or size <= most) and (piece := file.readline(_SKIPPED)):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _together(file: IO[bytes], most: int) -> Iterator[list[bytes]]:
    """The lines that follow, some at a time, the last perhaps cut after `most` bytes; those before a break are not lost."""
    lines: list[bytes] = []
    size = 0
    try:
        for line in iter(partial(file.readline, most + 1), b""):
            lines.append(line)
            size += len(line)
            if size >= TOGETHER or len(line) > most or len(lines) >= _MOST_LINES:
                yield lines
                lines, size = [], 0
    except _BREAKS:
        yield lines
        raise
    yield lines


@contextmanager
def _breaks_told() -> Iterator[None]:
    try:
        yield
    except _BREAKS as error:
        raise Torn(f"compressed data cannot be read further ({error})") from None


def _without_blanks(lines: list[bytes], *, is_first: bool) -> list[bytes]:
    if is_first and lines:
        lines[0] = lines[0].removeprefix(BOM)
    return [b"" if line.isspace() else line for line in lines] if any(map(bytes.isspace, lines)) else lines
