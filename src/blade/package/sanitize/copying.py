"""A copy of a folder: made beside its place and moved there when it is whole."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import zstandard

from blade.model.errors import RequestError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@contextmanager
def new_folder(output: Path, path: Path) -> Iterator[Path]:
    """A folder that becomes `output` at the end; RequestError when it would hold, or stand in, what is copied."""
    _refuse(path, output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=output.parent) as staging:
            copy = Path(staging) / "copy"
            copy.mkdir()
            yield copy
            copy.replace(output)
    except OSError as error:
        raise RequestError(
            f"cannot write the copy: {error.strerror or error}", hint="give a folder that can be written"
        ) from None


def _refuse(path: Path, output: Path) -> None:
    source, target = path.resolve(), output.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise RequestError(
            "the copy cannot stand in what it is a copy of, nor around it", hint="give a folder elsewhere"
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise RequestError("the folder for the copy is not empty", hint="give a new folder, or empty it first")


def place(copy: Path, name: str) -> Path:
    """Where a file stands in the copy."""
    target = copy / name
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


@contextmanager
def compressed_like(original: Path, target: Path) -> Iterator[IO[bytes]]:
    """A file to write, compressed as the original is; the same bytes whenever it is written."""
    with original.open("rb") as start:
        magic = start.read(4)
    with target.open("wb") as file:
        if magic.startswith(_GZIP):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        elif magic == _ZSTD:
            with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield file
