"""Which values of the source reach anything that BLADE keeps or shows: each is changed alone, and the row is read again.

Rows that are put together from files are asked twice: which values of the files reach the row, and which of the row the tables.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

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
LARGEST_FILE = 1 << 18
"""Bytes of a trial's file that is changed: each value costs a reading of the trial."""
LONG = 200
"""Characters of a text that are worth asking whether its end is read too."""
_MARK = "qzvxkw"
_STEPS, _REST = "\n== steps ==\n", "\n== rest ==\n"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_PLACES = ("offset", "length", "line", "member")


class Lost(Struct, frozen=True, kw_only=True):
    """A path of the source some of whose values do not come through."""

    path: str
    """Dotted; `[]` stands for the items of a list. After the name of a file, where the row does not have it."""
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
    path = Path(run.roots.get(artifact.path, artifact.path))
    with using_roles(run.roles):
        found = _checked([row for record in chosen if (row := _decoded(record)) is not None], format_, run)
    return replace(found, lost=(*found.lost, *_lost_of_files(path, format_)))


def _lost_of_files(path: Path, format_: Format) -> list[Lost]:
    """What the files of one trial say and its row does not: each value is changed in a copy of them, and the row made again."""
    if format_.member_records is None or format_.members is None or not path.is_dir():
        return []
    members = list(format_.members(path))
    member = members[len(members) // 2]
    with TemporaryDirectory() as folder:
        home = Path(folder) / path.name
        files = _copied(path, home, member)
        counts: dict[str, tuple[int, int, str]] = {}
        before = _rows(format_, home, member)
        for file in files:
            text = file.read_text("utf-8", "replace")
            for where, value, changed in _changed(file, text):
                file.write_text(changed, "utf-8")
                lost, total, example = counts.get(where, (0, 0, str(value)[:60]))
                counts[where] = (lost + (_rows(format_, home, member) == before), total + 1, example)
            file.write_text(text, "utf-8")
    return [
        Lost(path=where, how="dropped", values=lost, of=total, example=example)
        for where, (lost, total, example) in sorted(counts.items())
        if lost
    ]


def _rows(format_: Format, home: Path, member: str) -> list[tuple[bytes, str, tuple[str, ...]]]:
    records = format_.member_records(home, [member]) if format_.member_records is not None else iter(())
    return [(record.data, record.broken, record.problems) for record in records]


def _copied(path: Path, home: Path, member: str) -> list[Path]:
    """Copies of the small files of a trial, and of those of its run that it may need; links are left out."""
    own = []
    for file in sorted(path.rglob("*")):
        place = file.relative_to(path)
        mine = place.as_posix() == member or place.is_relative_to(member)
        small = not file.is_symlink() and file.is_file() and file.stat().st_size <= LARGEST_FILE
        if small and (mine or len(place.parts) == 1):
            (home / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, home / place)
            own += [home / place] if mine else []
    return own


def _changed(file: Path, text: str) -> Iterator[tuple[str, Any, str]]:
    """Of a document each value, of any other text the whole: where it stands, what it is, and the file with another in its place."""
    if file.suffix != ".json":
        number = text.strip().replace(".", "", 1).isdecimal()
        yield file.name, text, str(1 - float(text)) if number else f"{_MARK} {text}"
        return
    try:
        whole = decode_any(text.encode())
    except BAD_VALUE:
        return
    seen: Counter[str] = Counter()
    for where, keys, value in _leaves(whole, "", ()):
        seen[where] += 1
        if seen[where] <= MOST_OF_A_PATH:
            yield f"{file.name}: {where}", value, encode(_with(whole, keys, _other(value))).decode()


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
