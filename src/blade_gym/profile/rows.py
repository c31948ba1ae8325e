"""Rows of NeMo Gym's files, as light as profile and aggregate need them: keys, agent, numbers, and where each stands.

A line that cannot be used is a problem with its place and reason; it never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.ingest import cells
from blade.ingest.decode import Row, Unusable, decode_row, mend
from blade.ingest.jsonl import BOM, Record, Torn, is_compressed, records
from blade.model.errors import ArtifactError
from blade.model.rollout import Problem, RowSource

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


class _Part(msgspec.Struct):
    """An object inside a row, of which nothing else is looked at: `usage` of the response, `name` of the agent."""

    usage: Any = None
    name: Any = None


Cells = dict[str, int | float | bool | str | list[Any] | _Part | None]
"""A row: numbers and texts as they are, objects passed over."""

_cells = msgspec.json.Decoder(Cells)
_KINDS = frozenset((int, float, bool))
_LIMIT = 1 << 30


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
    serial: int
    """How many rows were read before it."""

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


class Read(msgspec.Struct, kw_only=True, eq=False):
    """Rollouts of some files, in the order of the files, and the lines that could not be used."""

    files: list[Path] = []
    rows: list[GymRow] = []
    problems: list[Problem] = []

    def location(self, row: GymRow) -> str:
        """`file:line` of a row."""
        return f"{self.files[row.file]}:{row.line}"


def read_rollouts(files: list[Path]) -> Read:
    """Every usable rollout of the files; raises when a file cannot be opened."""
    read = Read(files=files)
    for number, path in enumerate(files):

        def take(row: Cells, record: Record, number: int = number) -> None:
            read.rows.append(_rollout(row, record, number, len(read.rows)))

        _each(path, read.problems, take)
    return read


def row_of(data: bytes, serial: int) -> GymRow:
    """The rollout that a line of JSON holds; raises Unusable."""
    cells_, _ = _decode(data)
    return _rollout(cells_, Record(data=data, line=serial + 1, offset=0), 0, serial)


def read_inputs(path: Path, problems: list[Problem], whole: Container[Key] = ()) -> list[InputRow]:
    """Every usable materialized input, in the order of the file; those whose key is in `whole` with the row itself."""
    rows: list[InputRow] = []

    def take(row: Cells, record: Record) -> None:
        task, repeat = key = _key(row)
        kept = decode_row(record.data)[0] if key in whole else None
        rows.append(InputRow(task, repeat, _agent(row) or NAMELESS, record.line or 0, kept))

    _each(path, problems, take)
    return rows


def read_keys(path: Path, problems: list[Problem]) -> list[tuple[str, Key]]:
    """Agent and key of every row of a sidecar."""
    keys: list[tuple[str, Key]] = []

    def take(row: Cells, _: Record) -> None:
        keys.append((_agent(row) or NAMELESS, _key(row)))

    _each(path, problems, take)
    return keys


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


def _each(path: Path, problems: list[Problem], take: Callable[[Cells, Record], None]) -> None:
    """Hand over each row of a file; what cannot be used becomes a problem."""

    def problem(line: int | None, reason: str) -> None:
        problems.append(Problem(source=RowSource(artifact=str(path), line=line), reason=reason))

    try:
        for record in _records(path):
            try:
                row, mended = _decode(record.data)
                take(row, record)
            except Unusable as error:
                problem(record.line, str(error))
            else:
                if mended:
                    problem(record.line, f"read all the same: {mended}")
    except Torn as torn:
        problem(None, str(torn))


def _decode(line: bytes) -> tuple[Cells, str | None]:
    try:
        return _cells.decode(line), None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        standard, mended = mend(line)
        return _cells.decode(standard), mended


def _records(path: Path) -> Iterator[Record]:
    try:
        yield from (record for record in records(path) if record.data)
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}", hint="check the path") from None


def _rollout(row: Cells, record: Record, file: int, serial: int) -> GymRow:
    task, repeat = _key(row)
    reward: object = row.get("reward", NO_REWARD)
    if isinstance(reward, _Part) or reward in ("nan", "inf", "-inf"):
        reward = None  # an object is no reward, nor are NaN and infinities, which `mend` leaves as text
    response = row.get("response")
    usage = response.usage if isinstance(response, _Part) and isinstance(response.usage, dict) else {}
    return GymRow(
        task,
        repeat,
        _agent(row),
        reward,
        _numbers(row),
        _numbers(usage),
        file,
        record.line or 0,
        record.offset or 0,
        len(record.data),
        serial,
    )


def _agent(row: Cells) -> str | None:
    agent = row.get(AGENT)
    return cells.text(agent.name) if isinstance(agent, _Part) else None


def _key(row: Cells) -> Key:
    task, repeat = row.get(TASK), row.get(REPEAT)
    if type(task) is int and type(repeat) is int and 0 <= task < _LIMIT and 0 <= repeat < _LIMIT:
        return task, repeat
    return _index(TASK, task), _index(REPEAT, repeat)


def _index(name: str, given: object) -> int:
    """An index, also where it was written as a text or with a point."""
    index = cells.integer(given)
    if index is not None:
        return index
    if given is None:
        raise Unusable(f"no {name}: the row cannot be joined with its task")
    raise Unusable(f"{name} is {'an object' if isinstance(given, _Part) else cells.shown(given)}, not an index")


def _numbers(row: dict[str, Any]) -> dict[str, Number]:
    """Numbers, booleans as 0 and 1, without the two indices."""
    numbers = {name: value for name, value in row.items() if type(value) in _KINDS}
    numbers.pop(TASK, None)
    numbers.pop(REPEAT, None)
    for name, value in numbers.items():
        if type(value) is bool:
            numbers[name] = int(value)  # the key stays where it is
    return numbers
