"""Lines of a JSON-lines file, plain or compressed, with the place of each; a byte range can be read alone."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

import zstandard

BOM = b"\xef\xbb\xbf"
COMPRESSED = (".gz", ".zst")


class Record(NamedTuple):
    """The bytes of one row and where they stand; `line` counts from 1 within the byte range."""

    data: bytes
    line: int | None
    offset: int | None
    member: str | None = None


class Torn(Exception):
    """Compressed data that ends or breaks before its end; rows read so far are good."""


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, decompressed by what its first bytes say, whatever its name."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if magic == b"\x28\xb5\x2f\xfd":
        reader = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
        return io.BufferedReader(reader, 1 << 20)
    return path.open("rb", buffering=1 << 20)


def is_compressed(path: Path) -> bool:
    """Whether a file must be read from its start."""
    return path.suffix in COMPRESSED


def records(path: Path, start: int = 0, end: int | None = None) -> Iterator[Record]:
    """Lines that begin in [start, end) of the decompressed bytes; blank lines are passed over but counted."""
    with open_bytes(path) as file:
        offset = _first_line(file, start)
        for number, line in enumerate(_lines(file), start=1):
            if end is not None and offset >= end:
                return
            data = line.removeprefix(BOM) if offset == 0 else line
            if data.strip():
                yield Record(data, number, offset)
            offset += len(line)


def _first_line(file: IO[bytes], start: int) -> int:
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
        raise Torn(f"compressed data cannot be read further ({error})") from None


def count_lines(path: Path, start: int, end: int) -> int:
    """Lines that begin in [start, end): what a reader of the next range adds to its own count."""
    total = 0
    with path.open("rb", buffering=0) as file:
        position = _first_line(file, start)
        file.seek(position)
        while position < end and (block := file.read(min(1 << 22, end - position))):
            total += block.count(b"\n")
            position += len(block)
    return total
