"""JSON and YAML documents of nobody's harness with records at some depth: a list of objects, or a map from ids to objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from blade.ingest.decode import encode
from blade.ingest.folder_files import YAML_ENDINGS, read_json
from blade.ingest.foreign_rows import Fields, Records, as_rollouts, has_output, records_of, verdict_field
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.jsonl import Record, Torn
from blade.ingest.mapping import guesses

_ROWS = 1_000
_SAMPLE = 50
"""Records that a refusal looks at to guess what fields are."""


def recognizes(head: FileHead) -> bool:
    """A document in which there are records; one record alone counts where it holds what an agent said."""
    is_document = head.start.lstrip()[:1] in (b"{", b"[") or head.path.name.endswith(YAML_ENDINGS)
    return not head.rows and is_document and _records(head.path) is not None


def _records(path: Path) -> Records | None:
    about = path.stat()
    return _read(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int, size: int) -> Records | None:
    """The records of a document, kept while it is not changed: it is asked for again while it is recognized and read."""
    value, _ = read_json(path, None)
    return records_in(value)


def records_in(value: Any) -> Records | None:
    """The records of a value; the value itself where it is one record and holds no others that are judged."""
    found = records_of(value)
    if found is not None and verdict_field(found.rows) is not None:
        return found
    if isinstance(value, dict) and has_output(value):
        return Records(path="", rows=[value])
    return found


def refusal(path: Path) -> str:
    """Records without anything that judges them need a word of the user."""
    found = _records(path)
    if found is None or verdict_field(found.rows) is not None:
        return ""
    rows = [{name: msgspec.Raw(encode(value)) for name, value in row.items()} for row in found.rows[:_SAMPLE]]
    return f"its {len(found.rows):,} records{_where(found)} have no reward or score; {guesses(rows)}"


def _where(found: Records) -> str:
    return f" (at {found.path})" if found.path not in ("", "*") else ""


def records(path: Path, start: int, end: int | None) -> Iterator[Sequence[Record]]:
    """The rows in their order, some at a time; raises `Torn` where the document has no records any more."""
    found = _records(path)
    if found is None:
        raise Torn("the document holds no records any more")
    rows = as_rollouts(found.rows, nested=found.path.count("*") > 1)
    for first in range(0, len(found.rows), _ROWS):
        numbered = zip(range(first, min(first + _ROWS, len(found.rows))), rows, strict=False)
        yield [Record(encode(row), None, None, str(place)) for place, row in numbered]


def fetch(path: Path, members: Sequence[str]) -> Iterator[bytes]:
    """Some rows, by their numbers from 0."""
    found = _records(path)
    rows: list[Fields] = list(as_rollouts(found.rows, nested=found.path.count("*") > 1)) if found is not None else []
    for member in members:
        yield encode(rows[int(member)]) if int(member) < len(rows) else b""


def facts(path: Path) -> RunFacts:
    """Where the records were found, and what was taken as their verdict."""
    found = _records(path)
    judge = verdict_field(found.rows) if found is not None else None
    note = f"records are read from {found.path}" if found is not None and found.path not in ("", "*") else ""
    said = f"the reward is read from `{judge}`" if judge not in (None, "reward", "score") else ""
    return RunFacts(note="; ".join(filter(None, (note, said))))


FORMAT = Format(
    name="json",
    order=95,
    recognizes=recognizes,
    records=records,
    fetch=fetch,
    refusal=refusal,
    facts=facts,
    yields=True,
)
