"""Rows of a data set, read from lines; a line that cannot be used is an error with its place, before anything runs."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.run.prompt import Prompt


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of rows, and how its rows are run."""

    path: Path
    shown: str
    """The path as it was given."""
    agent: str | None = None
    """For rows that name none."""
    repeats: int = 1
    prompt: Prompt | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a data set."""

    source: Source
    number: int
    text: bytes
    row: dict[str, Any]

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.source.shown}:{self.number}"


def lines(source: Source) -> Iterator[Line]:
    """The rows in order; blank lines are passed over."""
    if not source.path.is_file():
        raise RequestError(f"no such file: {source.shown}", hint="check --input, or the data set's jsonl_fpath")
    data = source.path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise RequestError(
            f"{source.shown}: the file is not UTF-8 (it looks like UTF-16)",
            hint="convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW",
        )
    for number, raw in enumerate(data.splitlines(), 1):
        text = raw.strip()
        if not text:
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RequestError(
                f"{source.shown}:{number}: not JSON: {error}", hint="each line is a JSON object"
            ) from None
        if not isinstance(row, dict):
            raise RequestError(f"{source.shown}:{number}: not an object", hint="each line is a JSON object")
        yield Line(source=source, number=number, text=text, row=row)


def checksum(path: Path) -> str:
    """sha256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
