"""The lines of a file with what was found in each."""

from __future__ import annotations

import gzip
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
_END = re.compile(rb"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(rb"[\s>#*/\"']*[A-Za-z0-9+/=:,. ()-]*(?:\\n)?[\"'+,\s]*")
_BROKEN = (EOFError, OSError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError)


class Looked(NamedTuple):
    """A line that was looked at."""

    number: int
    raw: bytes
    line: bytes
    """The bytes that hits are places in; in JSON, `raw` with fewer escapes."""
    hits: Sequence[Hit]
    counts: bool = True
    """False for the further lines of a key that was counted at its first."""


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

    def _lines(self, item: Item) -> Iterator[Looked]:
        try:
            with open_bytes(item.path) as file:
                for number, raw in enumerate(file, start=1):
                    line = readable(raw, item.kind is Kind.JSON)
                    yield Looked(number, raw, line, self.scanner.hits(line, item.name, self.covered))
        except _BROKEN as error:
            raise Torn(f"cannot be read further ({type(error).__name__})") from None


def _with_blocks(lines: Iterator[Looked]) -> Iterator[Looked]:
    """A private key may run over lines: all of them go, and the first counts."""
    block: Rule | None = None
    for one in lines:
        if block is not None and one.line.strip() and _BODY.fullmatch(one.line):
            start = len(one.line) - len(one.line.lstrip())
            yield one._replace(hits=[Hit(start, len(one.line.rstrip()), block)], counts=False)
            block = None if _END.search(one.line) else block
        else:
            block = _opened(one)
            yield one


def _opened(one: Looked) -> Rule | None:
    """The rule of a key that begins in a line and does not end in it."""
    key = next((hit for hit in one.hits if hit.rule.name == "private-key"), None)
    ends = key is None or _END.search(one.line[key.start :]) is not None or one.line[key.end :].strip() != b""
    return None if ends or key is None else key.rule


def _without_licensed(lines: Iterator[Looked], item: Item) -> Iterator[Looked]:
    """`All rights reserved` says nothing in a file whose head names a public licence."""
    licensed: bool | None = None
    for one in lines:
        if any(hit.rule.name == source.RESERVED for hit in one.hits):
            licensed = source.permissive(first_bytes(item.path, _HEAD)) if licensed is None else licensed
            yield one._replace(hits=[hit for hit in one.hits if not licensed or hit.rule.name != source.RESERVED])
        else:
            yield one
