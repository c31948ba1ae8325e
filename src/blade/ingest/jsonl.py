"""Lines of a JSON-lines file, plain or compressed, with the place of each; a byte range can be read alone."""

from __future__ import annotations

import gzip
import io
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, count
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import msgspec
import zstandard

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
_ZSTD_BLOCK = 1 << 14


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


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, decompressed by what its first bytes say, whatever its name."""
    kind = _magic(path)
    if kind == _GZIP:
        return cast(IO[bytes], gzip.open(path, "rb"))
    if kind == _ZSTD:
        return cast(IO[bytes], io.BufferedReader(_Frames(path.open("rb")), _BLOCK))
    return path.open("rb", buffering=_BLOCK)


def is_compressed(path: Path) -> bool:
    """Whether a file must be read from its start."""
    return _magic(path) != b""


def _magic(path: Path) -> bytes:
    with path.open("rb") as file:
        start = file.read(4)
    return next((magic for magic in (_GZIP, _ZSTD) if start.startswith(magic)), b"")


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


def lines_at(path: Path, offsets: Sequence[int]) -> Iterator[bytes]:
    """The lines that begin at offsets, which ascend; empty where none does. Raises `Torn` where the data break before."""
    if is_compressed(path):
        # One pass up to the last row that is wanted; what a torn file loses comes after it.
        lines = records(path)
        for offset in offsets:
            yield next((record.data for record in lines if record.offset == offset), b"")
        return
    with open_bytes(path) as file:
        for offset in offsets:
            file.seek(offset)
            yield file.readline()


def neighbors(path: Path, start: int = 0, end: int | None = None) -> Iterator[list[Record]]:
    """Lines that begin in [start, end) of the decompressed bytes, some neighbors at a time."""
    with open_bytes(path) as file, _breaks_told():
        offset, number = start, 1
        if start:
            file.seek(start - 1)
            offset = start - 1 + len(file.readline())
        for lines in _together(file):
            offsets = list(accumulate(map(len, lines), initial=offset))
            inside = len(lines) if end is None else min(len(lines), bisect_left(offsets, end))
            yield list(map(Record, _without_blanks(lines[:inside], is_first=offset == 0), count(number), offsets))
            if inside < len(lines):
                return
            offset, number = offsets[-1], number + inside


def _together(file: IO[bytes]) -> Iterator[list[bytes]]:
    """The lines that follow, some at a time; those before a break are not lost."""
    lines: list[bytes] = []
    size = 0
    try:
        for line in file:
            lines.append(line)
            size += len(line)
            if size >= TOGETHER:
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
