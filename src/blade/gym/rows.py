"""Rows of NeMo Gym's files, as light as profile and aggregate need them: keys, agent, numbers, and where each stands.

A line that cannot be used is a problem with its place and reason; it never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from blade.core.errors import ArtifactError
from blade.core.rollout import Problem, Source
from blade.ingest import cells
from blade.ingest.decode import BAD_VALUE, Row, Unusable, decode_any, decode_row, mend
from blade.ingest.jsonl import BOM, Record, Torn, is_compressed, records

TASK = "_ng_task_index"
REPEAT = "_ng_rollout_index"
AGENT = "agent_ref"
NAMELESS = "agent"
"""What rows without an agent are filed under; NeMo Gym uses the same word where it knows no name."""
NO_REWARD = object()
"""Stands for a reward that the row does not have at all."""

Key = tuple[int, int]
"""Index of the task, index of the rollout."""
Number = int | float

_NUMERIC = frozenset(b"-0123456789tf")


class _Response(msgspec.Struct):
    """The one part of a response that is counted."""

    usage: dict[str, Any] | None = None


_response = msgspec.json.Decoder(_Response)


class GymRow(msgspec.Struct, gc=False):
    """One rollout: what is counted of it, and where it stands."""

    task: int
    repeat: int
    agent: str | None
    reward: object
    """As the row has it: a number, null, or something else; `NO_REWARD` where there is none."""
    own: dict[str, Number]
    """Numbers and booleans (as 0 and 1) of the row itself, in its order, without the two indices."""
    usage: dict[str, Number]
    """Numbers of `response.usage`."""
    file: int
    line: int
    offset: int
    length: int

    @property
    def key(self) -> Key:
        return self.task, self.repeat


class InputRow(msgspec.Struct):
    """One materialized input: a rollout that was to be made."""

    task: int
    repeat: int
    agent: str
    line: int
    row: Row | None
    """The whole row, where it was asked for."""

    @property
    def key(self) -> Key:
        return self.task, self.repeat


@dataclass(kw_only=True)
class Read:
    """Rollouts of some files, in the order of the files, and the lines that could not be used."""

    files: list[Path] = field(default_factory=list)
    rows: list[GymRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def place(self, row: GymRow) -> str:
        """`file:line` of a row."""
        return f"{self.files[row.file]}:{row.line}"


def read_rollouts(files: list[Path]) -> Read:
    """Every usable rollout of the files; raises when a file cannot be opened."""
    read = Read(files=files)
    for number, path in enumerate(files):

        def take(row: Row, record: Record, number: int = number) -> None:
            read.rows.append(_rollout(row, record, number))

        _each(path, read.problems, take)
    return read


def read_inputs(path: Path, problems: list[Problem], whole: Container[Key] = ()) -> list[InputRow]:
    """Every usable materialized input, in the order of the file; those whose key is in `whole` with the row itself."""
    rows: list[InputRow] = []

    def take(row: Row, record: Record) -> None:
        task, repeat = key = _key(row)
        rows.append(InputRow(task, repeat, agent_of(row) or NAMELESS, record.line or 0, row if key in whole else None))

    _each(path, problems, take)
    return rows


def read_keys(path: Path, problems: list[Problem]) -> list[tuple[str, Key]]:
    """Agent and key of every row of a sidecar; rows without a key are passed over."""
    keys: list[tuple[str, Key]] = []

    def take(row: Row, _: Record) -> None:
        keys.append((agent_of(row) or NAMELESS, _key(row)))

    _each(path, problems, take)
    return keys


def agent_of(row: Row) -> str | None:
    """The name in `agent_ref`."""
    raw = row.get(AGENT)
    return cells.inside(raw, "name") if raw is not None else None


def lines_of(path: Path, rows: Iterable[GymRow]) -> Iterator[bytes]:
    """The bytes of some rows of one file, in the order asked for; a compressed file is read through and kept."""
    if is_compressed(path):
        wanted = list(rows)
        offsets = {row.offset for row in wanted}
        kept = {record.offset: record.data.strip() for record in _records(path) if record.offset in offsets}
        yield from (kept[row.offset] for row in wanted)
        return
    with path.open("rb") as file:
        for row in rows:
            file.seek(row.offset)
            data = file.read(row.length + len(BOM)) if row.offset == 0 else file.read(row.length)
            yield data.removeprefix(BOM)[: row.length].strip()


def _each(path: Path, problems: list[Problem], take: Callable[[Row, Record], None]) -> None:
    """Hand over each row of a file; what cannot be used becomes a problem."""

    def problem(line: int | None, reason: str) -> None:
        problems.append(Problem(source=Source(artifact=str(path), line=line), reason=reason))

    try:
        for record in _records(path):
            try:
                _take_line(record, take, problem)
            except Unusable as error:
                problem(record.line, str(error))
    except Torn as torn:
        problem(None, str(torn))


def _take_line(record: Record, take: Callable[[Row, Record], None], problem: Callable[[int | None, str], None]) -> None:
    row, mended = decode_row(record.data)
    try:
        take(row, record)
    except BAD_VALUE:
        line, mended = mend(record.data)
        take(decode_row(line)[0], record)
    if mended:
        problem(record.line, f"read all the same: {mended}")


def _records(path: Path) -> Iterator[Record]:
    try:
        yield from (record for record in records(path) if record.data)
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}", hint="check the path") from None


def _rollout(row: Row, record: Record, file: int) -> GymRow:
    task, repeat = _key(row)
    raw = row.get("reward")
    return GymRow(
        task,
        repeat,
        agent_of(row),
        NO_REWARD if raw is None else _reward(decode_any(raw)),
        _own(row),
        _usage(row.get("response")),
        file,
        record.line or 0,
        record.offset or 0,
        len(record.data),
    )


def _reward(found: object) -> object:
    """NaN and infinities, which mending leaves as text, are no reward."""
    return None if isinstance(found, str) and found in ("nan", "inf", "-inf") else found


def _key(row: Row) -> Key:
    try:
        task, repeat = row[TASK], row[REPEAT]
    except KeyError as missing:
        raise Unusable(f"no {missing.args[0]}: the row cannot be joined with its task") from None
    found = cells.integer(decode_any(task)), cells.integer(decode_any(repeat))
    if found[0] is None or found[1] is None:
        name, raw = (TASK, task) if found[0] is None else (REPEAT, repeat)
        raise Unusable(f"{name} is {cells.shown(decode_any(raw))}, not an index")
    return found[0], found[1]


def _own(row: Row) -> dict[str, Number]:
    return {
        name: value
        for name, raw in row.items()
        if memoryview(raw)[0] in _NUMERIC and name not in (TASK, REPEAT)
        if (value := _number(decode_any(raw))) is not None
    }


def _usage(raw: msgspec.Raw | None) -> dict[str, Number]:
    if raw is None:
        return {}
    try:
        usage = _response.decode(raw).usage
    except msgspec.MsgspecError:
        return {}  # a response that is null, a list or a text has no usage
    return {name: value for name, found in (usage or {}).items() if (value := _number(found)) is not None}


def _number(found: object) -> Number | None:
    """A number that can be counted with, booleans as 0 and 1; None for anything else."""
    if type(found) is float or type(found) is int:
        return found if cells.finite(found) is not None else None
    return int(found) if isinstance(found, bool) else None
