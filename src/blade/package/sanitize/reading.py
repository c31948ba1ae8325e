"""The lines of a file with what was found in each."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import zstandard

from blade.ingest.jsonl import Torn, first_bytes, open_bytes
from blade.package.sanitize import source
from blade.package.sanitize.files import Item, Kind
from blade.package.sanitize.rules import Rule
from blade.package.sanitize.scan import Hit, Scanner, readable

_HEAD = 1 << 16
_BATCH = 1 << 14
_END = re.compile(rb"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(rb"[\s>#*/\"']*[A-Za-z0-9+/=:,. ()-]*(?:\\n)?[\"'+,\s]*")
_BROKEN = (EOFError, OSError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError)


class Looked(NamedTuple):
    """A line that was looked at, or several in a row in which no rule has anything to look for."""

    number: int
    """Of the first line, from 1."""
    raw: bytes
    line: bytes
    """The bytes that hits are places in; in JSON, `raw` with fewer escapes."""
    hits: Sequence[Hit] = ()
    counts: bool = True
    """False for the further lines of a key that was counted at its first."""
    lines: int = 1

    def apart(self) -> Iterator[Looked]:
        """The lines one by one."""
        if self.lines == 1:
            yield self
        else:
            for number, line in enumerate(io.BytesIO(self.raw), start=self.number):
                yield Looked(number, line, line)


@dataclass
class Reader:
    """Reads files one after the other."""

    scanner: Scanner
    covered: list[str]
    """Rules of what the allow list covers, one for each match."""

    def looked(self, item: Item) -> Iterator[Looked]:
        """Every line; Torn when the file breaks off."""
        lines = self._lines(item)
        return lines if item.kind is Kind.JSON else _without_licensed(_with_blocks(lines), item)

    def hits(self, line: bytes, item: Item, covered: list[str] | None = None) -> list[Hit]:
        """What is found in a readable line of a file."""
        return self.scanner.hits(line, item.name, is_json=item.kind is Kind.JSON, covered=covered)

    def _lines(self, item: Item) -> Iterator[Looked]:
        number = 1
        try:
            with open_bytes(item.path) as file:
                while batch := file.readlines(_BATCH):
                    yield from self._batch(item, batch, number)
                    number += len(batch)
        except _BROKEN as error:
            raise Torn(f"cannot be read further ({type(error).__name__})") from None

    def _batch(self, item: Item, batch: list[bytes], number: int) -> Iterator[Looked]:
        """Short lines are searched together; where something is, each half is searched for it."""
        raw = b"".join(batch) if len(batch) > 1 else batch[0]
        line = readable(raw, item.kind is Kind.JSON)
        if len(batch) == 1:
            yield Looked(number, raw, line, self.hits(line, item, self.covered))
        elif not self.scanner.opens(line):
            yield Looked(number, raw, raw, lines=len(batch))
        else:
            half = len(batch) // 2
            yield from self._batch(item, batch[:half], number)
            yield from self._batch(item, batch[half:], number + half)


def _with_blocks(lines: Iterator[Looked]) -> Iterator[Looked]:
    """A private key may run over lines: all of them go, and the first counts."""
    block: Rule | None = None
    for several in lines:
        for one in several.apart() if block is not None else (several,):
            if block is not None and one.line.strip() and _BODY.fullmatch(one.line):
                start = len(one.line) - len(one.line.lstrip())
                yield one._replace(hits=[Hit(start, len(one.line.rstrip()), block)], counts=False)
                block = None if _END.search(one.line) else block
            else:
                block = _opened(one)
                yield one


def _opened(one: Looked) -> Rule | None:
    """The rule of a key that begins in a line and does not end in it."""
    if not one.hits:
        return None
    key = next((hit for hit in one.hits if hit.rule.name == "private-key"), None)
    ends = key is None or _END.search(one.line[key.start :]) is not None or one.line[key.end :].strip() != b""
    return None if ends or key is None else key.rule


def _without_licensed(lines: Iterator[Looked], item: Item) -> Iterator[Looked]:
    """`All rights reserved` says nothing in a file whose head names a public licence."""
    licensed: bool | None = None
    for one in lines:
        if one.hits and any(hit.rule.name == source.RESERVED for hit in one.hits):
            licensed = source.permissive(first_bytes(item.path, _HEAD)) if licensed is None else licensed
            yield one._replace(hits=[hit for hit in one.hits if not licensed or hit.rule.name != source.RESERVED])
        else:
            yield one
