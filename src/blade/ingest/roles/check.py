"""Which values of the source reach anything that BLADE keeps or shows: each is changed alone, and the row is read again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from blade.ingest.account import account_of
from blade.ingest.batch import batch_of
from blade.ingest.decode import BAD_VALUE, Row, Unusable, decode_any, decode_row, encode
from blade.ingest.fields import using_roles
from blade.ingest.formats import Format, format_named
from blade.ingest.jsonl import Record
from blade.ingest.mapping import with_map
from blade.ingest.roles.sample import sample_records
from blade.ingest.row import RowReader
from blade.model.finding import Detection
from blade.model.rollout import Rollout
from blade.model.run import Run

ROWS = 4
"""Rows that are looked at: each value costs a reading of its row."""
MOST_OF_A_PATH = 2
"""Values of one path that are changed in a row: the items of a trajectory are read alike."""
LONG = 200
"""Characters of a text that are worth asking whether its end is read too."""
_MARK = "qzvxkw"
_STEPS, _REST = "\n== steps ==\n", "\n== rest ==\n"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_PLACES = ("offset", "length", "line", "member")


class Lost(Struct, frozen=True, kw_only=True):
    """A path of the source some of whose values do not come through."""

    path: str
    """Dotted; `[]` stands for the items of a list."""
    how: str
    """`dropped`, `truncated` or `duplicated`."""
    values: int
    """How many of the values that were changed."""
    of: int
    example: str


class Reading(Struct, frozen=True, kw_only=True):
    """What came of changing the values of some rows."""

    rows: int
    values: int
    """Values that were changed."""
    kept: int
    """Of these, how many changed what BLADE reads."""
    lost: tuple[Lost, ...] = ()


def checked_reading(run: Run) -> Reading:
    """Change every value of some rows of a run, one at a time; says which changes nothing of BLADE notices."""
    artifact = next(one for one in run.artifacts if one.role == "rollouts")
    format_ = format_named(artifact.format)
    records = list(sample_records(Path(run.roots.get(artifact.path, artifact.path)), format_))
    chosen = records[:: max(1, len(records) // ROWS)][:ROWS]
    with using_roles(run.roles):
        return _checked([row for record in chosen if (row := _decoded(record)) is not None], format_, run)


def _decoded(record: Record) -> dict[str, Any] | None:
    try:
        return {name: decode_any(raw) for name, raw in decode_row(record.data)[0].items()}
    except (Unusable, RecursionError, *BAD_VALUE):
        return None


def _checked(rows: Sequence[dict[str, Any]], format_: Format, run: Run) -> Reading:
    counts: dict[tuple[str, str], list[int]] = {}
    examples: dict[tuple[str, str], str] = {}
    changed: dict[str, int] = {}
    kept = 0
    for row in rows:
        before = _read(row, format_, run)
        for path, keys, value in _chosen(row):
            changed[path] = changed.get(path, 0) + 1
            how = _how(row, keys, value, before, format_, run)
            kept += how != "dropped"
            if how:
                counts.setdefault((path, how), []).append(1)
                examples.setdefault((path, how), str(value)[:60])
    lost = [
        Lost(path=path, how=how, values=len(found), of=changed[path], example=examples[path, how])
        for (path, how), found in sorted(counts.items())
    ]
    return Reading(rows=len(rows), values=sum(changed.values()), kept=kept, lost=tuple(lost))


def _chosen(row: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    seen: dict[str, int] = {}
    for path, keys, value in _leaves(row, "", ()):
        seen[path] = seen.get(path, 0) + 1
        if seen[path] <= MOST_OF_A_PATH:
            yield path, keys, value


def _leaves(value: Any, path: str, keys: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else str(name), (*keys, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}[]", (*keys, place))
    elif value is not None:
        yield path, keys, value


def _how(row: dict[str, Any], keys: tuple[Any, ...], value: Any, before: str, format_: Format, run: Run) -> str:
    """How a value is lost: empty where every change of it is noticed, and it stands in one place."""
    if _read(_with(row, keys, _other(value)), format_, run) == before:
        return "dropped"
    if not isinstance(value, str):
        return ""
    marked = _read(_with(row, keys, f"{value} {_MARK}"), format_, run)
    if len(value) > LONG and marked == before:
        return "truncated"
    steps = marked.partition(_STEPS)[2].partition(_REST)[0]
    return "duplicated" if steps.count(_MARK) > 1 else ""


def _other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{_MARK} {value}"


def _with(value: Any, keys: tuple[Any, ...], new: Any) -> Any:
    if not keys:
        return new
    if isinstance(value, dict):
        return {name: _with(item, keys[1:], new) if name == keys[0] else item for name, item in value.items()}
    return [_with(item, keys[1:], new) if place == keys[0] else item for place, item in enumerate(value)]


def _read(row: dict[str, Any], format_: Format, run: Run) -> str:
    """All that is kept or can be shown of a row, as one text."""
    data = encode(row)
    raws: Row = decode_row(data)[0]
    as_row = with_map(format_.as_row, run.field_map)
    named = raws if as_row is None else as_row(raws)
    found: list[Rollout] = []

    def keep(rollouts: Sequence[Rollout]) -> list[Detection]:
        found.extend(rollouts)
        return [Detection() for _ in rollouts]

    reader = RowReader(role="rollouts", threshold=run.pass_threshold, detect=keep, trajectories=True)
    record = Record(data, 1, 0)
    try:
        columns, odd = reader.read(batch_of([data], [named]), [record], "")
    except (RecursionError, *BAD_VALUE) as error:
        return f"unreadable: {error}"
    plain = {name: column for name, column in columns.items() if name not in _PLACES}
    decoded = {name: decode_any(raw) for name, raw in named.items()}
    steps = [[step.text for step in one.steps or ()] for one in found]
    rest = [(one.steps, one.due, one.prompt, one.offered) for one in found]
    whole = f"{plain!r}{odd!r}{_STEPS}{steps!r}{_REST}{rest!r}{account_of(decoded)!r}{reader.settings.counts!r}"
    return _ADDRESS.sub("", whole)


def check_text(name: str, reading: Reading) -> list[str]:
    """One line a path that does not come through, the largest losses first."""
    changed = f"{reading.values:,} values of {reading.rows} rows were changed one at a time"
    lines = [f"{name}: {changed}; {reading.kept:,} changes were noticed"]
    ordered = sorted(reading.lost, key=lambda one: (one.how, -one.values, one.path))
    lines += [f"  {one.how:<10} {one.path:<56} {one.values} of {one.of}; e.g. {one.example!r}" for one in ordered]
    return lines if reading.lost else [*lines, "  nothing is lost"]
