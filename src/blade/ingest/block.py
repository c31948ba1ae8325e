"""Neighbouring rows, read together: the usual ones as one batch and the others as another.

A row with a value that cannot be read is read alone and mended, so that it costs no other row anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple

import msgspec

from blade.ingest.batch import Batch, UsualRows, batch_of
from blade.ingest.decode import BAD_VALUE, DEEPEST, Row, Unusable, decode_row, is_sound, mend
from blade.ingest.jsonl import Record, source_of
from blade.ingest.row import RowReader
from blade.ingest.row_table import Part
from blade.model.rollout import Problem

_NO_ROLLOUT = "no reward or score, and no response, messages or output: not a rollout"
_WIDEST = 300
"""Fields that the rows of a batch have together."""
_UNREADABLE = (*BAD_VALUE, RecursionError)


@dataclass
class Block:
    """Records and what they gave."""

    records: Sequence[Record]
    first: int = 0
    """Records of the artifact before these."""
    parts: list[Part] = field(default_factory=list)
    """The rows that were read."""
    reasons: dict[int, str] = field(default_factory=dict)
    """What is wrong with a record, by its place."""

    def problems(self, artifact: str) -> list[Problem]:
        """In the order of the records."""
        return [
            Problem(source=source_of(self.records[place], artifact), reason=self.reasons[place])
            for place in sorted(self.reasons)
        ]


class _Other(NamedTuple):
    """A row that is not usual."""

    place: int
    data: bytes
    row: Row
    mended: str | None


class BlockReader:
    """Reads the blocks of one artifact, in order. `seen` counts in how many rows each field stands.

    What `usual` learns here saves time wherever it is used next, and changes nothing that is read.
    """

    def __init__(self, reader: RowReader, as_row: Callable[[Row], Row] | None, artifact: str, usual: UsualRows) -> None:
        self.seen: dict[str, int] = {}
        self._reader = reader
        self._as_row = as_row
        self._artifact = artifact
        self._usual = usual
        self._before = 0

    def read(self, records: Sequence[Record]) -> Block:
        """One block; every record gave a row, a problem, or both."""
        block = Block(records, self._before)
        self._before += len(records)
        left = self._read_usual(block) if self._as_row is None else range(len(records))
        others = [other for place in left if (other := _other(block, place)) is not None]
        for alike in _narrow(others):
            self._read_others(block, alike)
        self._usual.learn(other.row for other in others)
        return block

    def _read_usual(self, block: Block) -> Sequence[int]:
        """Read the usual rows; the places of the others are left."""
        rows, places, left = self._decode([record.data for record in block.records])
        if not rows:
            return left
        batch = self._usual.batch([block.records[place].data for place in places], rows)
        try:
            kept = self._read(block, places, batch)
        except _UNREADABLE:
            return range(len(block.records))
        self._count((batch if all(kept) else batch.where(kept)).seen())
        return left

    def _decode(self, lines: Sequence[bytes]) -> tuple[list[msgspec.Struct], Sequence[int], Sequence[int]]:
        """The usual rows and their places, and the places of the others; nearly always all are usual."""
        decode = self._usual.decode
        rows: list[msgspec.Struct] = []
        with suppress(*_UNREADABLE):
            rows.extend(map(decode, lines))
        places, left = list(range(len(rows))), []
        for place in range(len(rows), len(lines)):
            try:
                rows.append(decode(lines[place]))
                places.append(place)
            except _UNREADABLE:
                left.append(place)
        return rows, places, left

    def _read_others(self, block: Block, others: Sequence[_Other]) -> None:
        """Together where that can be done."""
        try:
            self._read_together(block, others)
        except _UNREADABLE:
            sound = [is_sound(other.data) for other in others]
            if any(sound) and not all(sound):
                self._read_others(block, list(compress(others, sound)))
                others = [other for other, good in zip(others, sound, strict=True) if not good]
            for other in others:
                self._read_alone(block, other)

    def _read_alone(self, block: Block, other: _Other) -> None:
        """Mended where it must be."""
        try:
            try:
                self._read_together(block, [other])
            except BAD_VALUE:
                self._read_together(block, [_mended(other.place, block.records[other.place].data)])
        except RecursionError:
            block.reasons[other.place] = f"nested deeper than {DEEPEST} levels"
        except Unusable as why:
            block.reasons[other.place] = str(why)

    def _read_together(self, block: Block, others: Sequence[_Other]) -> None:
        rows = [other.row for other in others]
        named = rows if self._as_row is None else [self._as_row(row) for row in rows]
        kept = self._read(block, [other.place for other in others], batch_of([other.data for other in others], named))
        for row in compress(rows, kept):
            self._count(dict.fromkeys(row, 1))
        for other in others:
            if other.mended is not None:
                block.reasons[other.place] = "; ".join(filter(None, (other.mended, block.reasons.get(other.place))))

    def _read(self, block: Block, places: Sequence[int], batch: Batch) -> Sequence[bool]:
        """Read the rows of a batch that are rollouts; says which those are."""
        kept = self._reader.usable(batch)
        if not all(kept):
            block.reasons |= {place: _NO_ROLLOUT for place, good in zip(places, kept, strict=True) if not good}
            places, batch = list(compress(places, kept)), batch.where(kept)
        if places:
            columns, odd = self._reader.read(batch, [block.records[place] for place in places], self._artifact)
            block.parts.append(Part([block.first + place for place in places], columns))
            block.reasons |= {places[row]: "; ".join(why) for row, why in odd.items()}
        return kept

    def _count(self, fields: Mapping[str, int]) -> None:
        for name, count in fields.items():
            self.seen[name] = self.seen.get(name, 0) + count


def _other(block: Block, place: int) -> _Other | None:
    """The row at a place; None when it holds none, and then the block has the reason."""
    record = block.records[place]
    try:
        if record.broken:
            raise Unusable(record.broken)
        row, mended = decode_row(record.data)
        return _Other(place, record.data, row, None) if mended is None else _mended(place, record.data)
    except Unusable as why:
        block.reasons[place] = str(why)
        return None


def _narrow(others: Sequence[_Other]) -> Iterator[list[_Other]]:
    """Neighbours that have few fields together: a batch is as wide as all of its rows."""
    group: list[_Other] = []
    names: set[str] = set()
    for other in others:
        if group and len(names | other.row.keys()) > _WIDEST:
            yield group
            group, names = [], set()
        group.append(other)
        names |= other.row.keys()
    if group:
        yield group


def _mended(place: int, line: bytes) -> _Other:
    data, why = mend(line)
    return _Other(place, data, decode_row(data)[0], why)
