"""The rows from which the roles of fields are learned: the first ones and some at even distances, the same for everybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from blade.ingest.decode import BAD_VALUE, Row, Unusable, decode_any, decode_row
from blade.ingest.formats import Format
from blade.ingest.jsonl import BOM, Record, Torn, is_compressed
from blade.ingest.mapping import with_map
from blade.model.field_map import FieldMap

MOST_ROWS = 300
"""Enough to see a value that one rollout in a hundred has; decoding them takes a few hundredths of a second."""
MOST_BYTES = 8 << 20
FIRST_ROWS = 60
PLACES = 30
"""Even distances in a file that is larger than what is looked at."""
NEIGHBORS = 8
"""Rows at each of them: the repeats of a task often stand together."""
MOST_MEMBERS = 60
"""Trials of a run folder: each is several files to open."""


def sample_rows(path: Path, format_: Format, field_map: FieldMap = ()) -> list[dict[str, Any]]:
    """The decoded rows of a sample, under the names that rows have; what cannot be read is left out."""
    as_row = with_map(format_.as_row, field_map)
    rows: list[dict[str, Any]] = []
    size = 0
    try:
        for record in sample_records(path, format_):
            row = _decoded(record, as_row)
            if row is not None:
                rows.append(row)
            size += len(record.data)
            if len(rows) >= MOST_ROWS or size >= MOST_BYTES:
                break
    except (Torn, OSError, Unusable):
        return rows
    return rows


def with_tasks(rows: Sequence[dict[str, Any]], tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with what a file of tasks says about theirs, by the first field that names tasks in both."""
    for name in tasks[0] if tasks else ():
        by_name = {task[name]: task for task in tasks if isinstance(task.get(name), str | int)}
        if len(by_name) == len(tasks) and any(row.get(name) in by_name for row in rows if _is_key(row.get(name))):
            return [{**by_name.get(row[name], {}), **row} if _is_key(row.get(name)) else row for row in rows]
    return list(rows)


def _is_key(value: Any) -> bool:
    return isinstance(value, str | int)


def _decoded(record: Record, as_row: Any) -> dict[str, Any] | None:
    if not record.data or record.broken:
        return None
    try:
        row: Row = decode_row(record.data)[0]
        plain = row if as_row is None else as_row(row)
        return {name: decode_any(raw) for name, raw in plain.items()}
    except (Unusable, RecursionError, *BAD_VALUE):
        return None


def sample_records(path: Path, format_: Format) -> Iterator[Record]:
    """Records of a sample; more may follow than are used."""
    if format_.members is not None and format_.member_records is not None and path.is_dir():
        members = list(format_.members(path))
        step = max(1, -(-len(members) // MOST_MEMBERS))
        return format_.member_records(path, members[::step])
    if format_.splittable and not is_compressed(path) and path.stat().st_size > MOST_BYTES:
        return _spread(path)
    records = chain.from_iterable(format_.records(path, 0, None))
    if is_compressed(path) or path.stat().st_size > MOST_BYTES:
        return islice(records, MOST_ROWS)
    return _spread_of(list(records))


def _spread_of(records: Sequence[Record]) -> Iterator[Record]:
    """All records where they are few; else the first ones, and some neighbors at even distances: rows are often in the
    order of their tasks.
    """
    places = (MOST_ROWS - FIRST_ROWS) // NEIGHBORS
    if len(records) <= MOST_ROWS:
        return iter(records)
    starts = (FIRST_ROWS + (len(records) - FIRST_ROWS) * number // places for number in range(places))
    return iter([*records[:FIRST_ROWS], *(one for start in starts for one in records[start : start + NEIGHBORS])])


def _spread(path: Path) -> Iterator[Record]:
    """The first rows, then some neighbors at even distances; no row twice."""
    size, seen = path.stat().st_size, -1
    with path.open("rb") as file:
        for number in range(PLACES + 1):
            start = number * size // (PLACES + 1)
            file.seek(max(0, start - 1))
            if start:
                file.readline()
            room = 2 * MOST_BYTES // (PLACES + 1)
            for _ in range(NEIGHBORS if number else FIRST_ROWS):
                offset = file.tell()
                line = file.readline()
                if offset > seen and not line.isspace():
                    seen = offset
                    yield Record(line.removeprefix(BOM) if not offset else line, None, offset)
                room -= len(line)
                if room <= 0:
                    break
