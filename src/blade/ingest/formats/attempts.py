"""JSON lines of nobody's harness with a task a line, and its attempts in a list: each attempt is a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from blade.ingest.decode import decode_any, encode
from blade.ingest.fields import BY_NAME, ID_NAMES, is_rollout
from blade.ingest.folder_formats import read_events
from blade.ingest.foreign_rows import Fields, Records, are_graders, as_rollouts, records_of, verdict_field
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.jsonl import Record
from blade.ingest.roles.outcome import choose_task
from blade.ingest.roles.paths import Sample, at, is_messages

_ROWS = 1_000
_REWARDS = re.compile(r"(?:\w*_)?(?:rewards?|graded)(?:_list)?", re.IGNORECASE)
_FEWEST_WORDS = 3


def recognizes(head: FileHead) -> bool:
    """No line is judged or holds what an agent said, and each has a list of objects that are judged."""
    if not head.rows or any(map(is_rollout, head.rows)) or any(_names_output(row) for row in head.rows):
        return False
    rows = [{name: decode_any(raw) for name, raw in row.items()} for row in head.rows]
    return _attempts(rows) is not None


def _names_output(row: Any) -> bool:
    return any(path in row for path in (*BY_NAME["trajectory"].paths, *BY_NAME["answer"].paths))


def _attempts(rows: Sequence[Fields]) -> Records | None:
    """The attempts of tasks; None where the rows are judged themselves, or hold no list that is judged."""
    if verdict_field(rows) is not None:
        return None
    rows = _side_by_side(rows) or rows
    found = records_of(list(rows))
    if found is None or found.path.count("*") != 2 or verdict_field(found.rows) is None:
        return None
    name = found.path.split(".")[1]
    lists = [row.get(name) for row in rows]
    if are_graders(lists) or not all(isinstance(one, list) and not is_messages(one) for one in lists):
        return None
    return Records(
        path=found.path, rows=[{**one, **task} for task, one in zip(_tasks(rows, name), found.rows, strict=False)]
    )


def _side_by_side(rows: Sequence[Fields]) -> list[Fields] | None:
    """Lines that list what was written at each attempt and, in another list, its reward, with both put together.

    What was written is several words: names beside verdicts are criteria.
    """
    rewards = {
        name for row in rows for name, value in row.items() if _is_list_of(value, float) and _REWARDS.fullmatch(name)
    }
    texts = {name for row in rows for name, value in row.items() if _is_list_of(value, str) and _is_prose(value)}
    if len(rewards) != 1 or not texts:
        return None
    (judge,) = rewards
    found = []
    for row in rows:
        count = len(row[judge]) if _is_list_of(row.get(judge), float) else 0
        lists = {name: value for name, value in row.items() if isinstance(value, list) and len(value) == count}
        if count < 2 or not lists.keys() & texts:
            return None
        tries = [{name.removesuffix("s"): value[place] for name, value in lists.items()} for place in range(count)]
        tries = [{**one, "reward": row[judge][place], "repeat": place} for place, one in enumerate(tries)]
        found.append({name: value for name, value in row.items() if name not in lists} | {"attempts": tries})
    return found


def _is_list_of(value: object, kind: type) -> bool:
    """Whether a list holds texts alone, or numbers and truth values alone."""
    kinds = (str,) if kind is str else (int, float)
    return isinstance(value, list) and bool(value) and all(isinstance(one, kinds) for one in value)


def _is_prose(texts: Sequence[str]) -> bool:
    return sum(len(text.split()) for text in texts) >= _FEWEST_WORDS * len(texts)


def _tasks(rows: Sequence[Fields], name: str) -> Iterator[Fields]:
    """For each attempt its task: by the field that names the lines, else by their number."""
    if any(given in row for row in rows for given in (*ID_NAMES, *BY_NAME["index"].paths)):
        yield from ({} for row in rows for _ in _objects(row[name]))
        return
    named = choose_task(Sample(rows), [None] * len(rows), frozenset()).path
    for place, row in enumerate(rows):
        task = at(row, named) if named is not None else place
        yield from ({"task_id": task} for _ in _objects(row[name]))


def _objects(attempts: Sequence[Any]) -> list[Any]:
    return [one for one in attempts if isinstance(one, dict)]


def _records(path: Path) -> tuple[Records | None, Mapping[str, str]]:
    about = path.stat()
    return _read(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int, size: int) -> tuple[Records | None, Mapping[str, str]]:
    """The attempts of a file and its broken lines, kept while it is not changed: it is read to learn from it and to scan it."""
    broken: dict[str, str] = {}
    return _attempts(list(read_events(path, broken))), broken


def records(path: Path, start: int, end: int | None) -> Iterator[Sequence[Record]]:
    """The attempts in their order, some at a time."""
    found, broken = _records(path)
    rows = as_rollouts(found.rows, nested=True) if found is not None else iter(())
    numbered = (Record(encode(row), None, None, str(place)) for place, row in enumerate(rows))
    while some := list(islice(numbered, _ROWS)):
        yield some
    yield [Record(b"", None, None, line, why) for line, why in broken.items()]


def fetch(path: Path, members: Sequence[str]) -> Iterator[bytes]:
    """Some attempts, by their numbers from 0."""
    rows = {record.member: record.data for record in chain.from_iterable(records(path, 0, None))}
    return (rows.get(member, b"") for member in members)


def facts(path: Path) -> RunFacts:
    """Where the attempts were found."""
    found, _ = _records(path)
    return RunFacts(note=f"a rollout is read from each of {found.path.removeprefix('*.')}" if found is not None else "")


FORMAT = Format(name="attempts", order=85, recognizes=recognizes, records=records, fetch=fetch, facts=facts)
