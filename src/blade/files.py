"""Files that stand beside rollouts: their names, JSON as it is written, and writing that leaves the old file whole."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from blade.model.errors import RequestError

_encoder = msgspec.json.Encoder()


def beside(rollouts: Path, suffix: str) -> Path:
    """`results/r.jsonl` and `_agent_metrics.json` to `results/r_agent_metrics.json`; what compression adds is dropped."""
    plain = rollouts.with_suffix("") if rollouts.suffix in (".gz", ".zst") else rollouts
    return plain.with_name(plain.stem + suffix)


def sidecar(rollouts: Path, suffix: str) -> Path | None:
    """The sidecar of that name, plain or compressed, where there is one."""
    plain = beside(rollouts, suffix)
    names = (plain, *(plain.with_name(plain.name + ending) for ending in (".gz", ".zst")))
    return next((path for path in names if path.is_file()), None)


def json_line(value: object) -> bytes:
    """A value as one line of JSON, as people read it: with a space after each comma and colon."""
    return msgspec.json.format(_encoder.encode(value), indent=0) + b"\n"


def json_text(value: object) -> bytes:
    """A value as an indented JSON document."""
    return msgspec.json.format(_encoder.encode(value), indent=2) + b"\n"


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line."""
    with replacing(path) as file:
        file.writelines(_encoder.encode(row) + b"\n" for row in rows)


def write_json(path: Path, value: object, *, indent: int = 0) -> None:
    """One JSON document; without line breaks when `indent` is 0."""
    data = _encoder.encode(value)
    with replacing(path) as file:
        file.write(msgspec.json.format(data, indent=indent) if indent else data)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when all of it is written; folders are made as needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=path.parent) as staging:
            new = Path(staging) / path.name
            with new.open("wb") as file:
                yield file
            new.replace(path)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror or error}", hint="is it a folder, or full?") from None
