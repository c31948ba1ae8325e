"""The one pass: each row is read once, every rollout rule looks at it, and a light row is kept.

A chunk is a byte range of one artifact. Scanning it is a pure function of the file and the range, so the same function
runs in this process or in workers, and its result does not depend on how many there are. Neighbouring rows are read
together: the usual ones as one batch and the others as another. A row with a value that cannot be read is read alone and
mended, so that it costs no other row anything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from functools import lru_cache
from itertools import compress, pairwise
from pathlib import Path

import msgspec
import polars as pl
from msgspec import Struct, field

from blade.ingest.artifacts import Files
from blade.ingest.batch import Batch, UsualRows, batch_of
from blade.ingest.decode import BAD_VALUE, DEEPEST, Row, Unusable, decode_row, is_sound, mend
from blade.ingest.fields import using_roles
from blade.ingest.formats import Format, format_named
from blade.ingest.frames import in_one_piece
from blade.ingest.jsonl import Record, Torn, is_compressed, source_of
from blade.ingest.mapping import FieldMap, with_map
from blade.ingest.row import MOST_TOOLS, OTHER_TOOLS, RowReader
from blade.ingest.row_table import COLUMNS, TablePart, to_frame
from blade.ingest.settings import Settings
from blade.ingest.workers import WORTH_WORKERS, cores, open_pool
from blade.model.errors import BladeError
from blade.model.finding import Detect
from blade.model.roles import NO_ROLES, Roles
from blade.model.rollout import Problem, RowSource
from blade.model.tools import NO_CUSTOM_TOOLS, Tools, using_tools

PART = 5_000
"""Rows of a part of the light table."""
ROWS = 256
"""Rows that are read as one batch: enough to share what a batch costs, few enough to stay in the processor's cache."""
BLOCK = 4 << 20
"""Bytes of rows that are read as one batch, however few they are."""
CHUNK = 32 << 20
MEMBERS = 100
"""Trials of a run folder that are read together: each is several small files."""
MEMBER = 200_000
"""Bytes that the files of a trial are taken to have, to tell whether workers are worth their start."""
_GATHERED = ("line", "skeleton")
"""Columns that are changed when parts are put together."""
MOST_PROBLEMS = 1_000
"""Problems listed one by one for a file; all are counted."""
_NO_ROLLOUT = "no reward or score, and no response, messages or output: not a rollout"
_WIDEST = 300
"""Fields that the rows of a batch have together."""
_UNREADABLE = (*BAD_VALUE, RecursionError)


class ScanSettings(Struct, frozen=True, kw_only=True):
    """How rows are read; the same for every chunk of a scan."""

    threshold: float = 1.0
    detect: Detect | None = None
    trajectories: bool = True
    tools: Tools = NO_CUSTOM_TOOLS
    field_map: FieldMap = ()


class Chunk(Struct, frozen=True, kw_only=True):
    """A piece of an artifact that can be read alone."""

    file: int
    """Index of the artifact in the order of the scan."""
    path: Path
    shown: str
    format: str
    role: str
    start: int = 0
    end: int | None = None
    members: tuple[str, ...] = ()
    """The rows to read of an artifact that is made of members."""
    roles: Roles = NO_ROLES
    """What the fields of its rows mean."""

    @property
    def size(self) -> int:
        """Its bytes on disk."""
        if self.members:
            return len(self.members) * MEMBER
        return (self.end - self.start) if self.end is not None else self.path.stat().st_size


class Scanned(Struct, kw_only=True):
    """What a chunk gave: parts of the light table, problems, and what it says about the run and the schema."""

    chunk: Chunk
    parts: list[pl.DataFrame | Path] = field(default_factory=list)
    rows: int = 0
    lines: int = 0
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    tools: tuple[str, ...] = ()
    settings: dict[Settings, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    """Top-level fields and in how many rows each stands."""

    def note(self, problems: Sequence[Problem]) -> None:
        """Count problems, and list them as far as there is room."""
        self.problem_count += len(problems)
        self.problems += problems[: MOST_PROBLEMS - len(self.problems)]


def chunks(files: Files, roles: Sequence[Roles] = ()) -> list[Chunk]:
    """The pieces to read: byte ranges of large plain files, else whole files; `roles` are those of each bundle."""
    pieces = []
    for number, path in enumerate(files.paths):
        name, size = files.formats[number], path.stat().st_size
        whole = Chunk(
            file=number,
            path=path,
            shown=files.shown(path),
            format=name,
            role=files.roles[number],
            roles=roles[files.owners[number]] if roles else NO_ROLES,
        )
        members_of = format_named(name).members
        if members_of is not None and path.is_dir():
            members = tuple(members_of(path))
            parts = [members[first : first + MEMBERS] for first in range(0, len(members), MEMBERS)]
            pieces += [msgspec.structs.replace(whole, members=part) for part in parts]
        elif not format_named(name).splittable or is_compressed(path) or size <= 2 * CHUNK:
            pieces.append(whole)
        else:
            pieces += [msgspec.structs.replace(whole, start=start, end=end) for start, end in pairwise(edges(size))]
    return pieces


def edges(size: int) -> list[int]:
    """Where the pieces of a file begin and end; smaller ones come last, so that no worker waits long for another."""
    found = [0]
    while found[-1] < size:
        left = size - found[-1]
        found.append(min(size, found[-1] + max(1, CHUNK // 8, min(CHUNK, left // 4))))
    return found


def scan(
    pieces: Sequence[Chunk],
    settings: ScanSettings,
    *,
    workers: int | None,
    pool: Executor | None = None,
    progress: Callable[[int, int], None],
) -> RowTable:
    """The table of all chunks, which must be in order; `progress` is told how many of how many are done.

    Large work goes to workers, which leave Arrow parts in a temporary folder: those of `pool` where a caller has started
    some already.
    """
    results: list[Scanned] = []

    def done(result: Scanned) -> None:
        results.append(result)
        progress(len(results), len(pieces))

    wanted = min(workers if workers is not None else cores(), len(pieces))
    if wanted <= 1 or (workers is None and sum(piece.size for piece in pieces) < WORTH_WORKERS):
        for piece in pieces:
            done(scan_chunk(piece, settings))
        if pool is not None:
            pool.shutdown(wait=False)
        return gather(results)
    with tempfile.TemporaryDirectory(prefix="blade-scan-") as folder:
        with nullcontext(pool) if pool is not None else open_pool(wanted) as ready:
            submitted = [
                ready.submit(_scan_to_parts, piece, settings, Path(folder), index) for index, piece in enumerate(pieces)
            ]
            for future in submitted:
                done(future.result())
            # Their memory is given back before the tables take theirs.
            ready.shutdown(wait=False)
        return gather(results)


def _scan_to_parts(piece: Chunk, settings: ScanSettings, folder: Path, index: int) -> Scanned:
    def keep(frame: pl.DataFrame, number: int) -> Path:
        path = folder / f"{index:06d}-{number:06d}.arrow"
        # A column of the light table in which no row says anything is made anew.
        written = frame.select(
            name
            for name in frame.columns
            if name in _GATHERED or name not in COLUMNS or frame[name].null_count() < frame.height
        )
        try:
            written.write_ipc(path, compression="lz4")
        except (OSError, pl.exceptions.PolarsError) as error:
            hint = "is the disk full? TMPDIR names another folder; --workers 1 needs none"
            raise BladeError(f"the temporary folder {folder} cannot be written: {error}", hint=hint) from None
        return path

    return scan_chunk(piece, settings, keep)


def scan_chunk(
    piece: Chunk,
    settings: ScanSettings,
    keep: Callable[[pl.DataFrame, int], pl.DataFrame | Path] = lambda frame, number: frame,
) -> Scanned:
    """Read one chunk; `keep` decides where a part of the light table goes."""
    format_ = format_named(piece.format)
    reader = RowReader(
        role=piece.role, threshold=settings.threshold, detect=settings.detect, trajectories=settings.trajectories
    )
    blocks = BlockReader(
        reader,
        with_map(format_.as_row, settings.field_map),
        piece.shown,
        _usual_rows(piece.path, settings.trajectories),
    )
    result = Scanned(chunk=piece)
    waiting: list[TablePart] = []
    with using_tools(settings.tools), using_roles(piece.roles):
        for block in _blocks(piece, format_, blocks, result):
            waiting += block.parts
            result.rows += sum(len(part.places) for part in block.parts)
            if sum(len(part.places) for part in waiting) >= PART:
                result.parts.append(keep(to_frame(waiting), len(result.parts)))
                waiting = []
    if waiting:
        result.parts.append(keep(to_frame(waiting), len(result.parts)))
    result.tools, result.settings, result.seen = tuple(reader.tools), reader.settings.counts, blocks.seen
    return result


@lru_cache(maxsize=1)
def _usual_rows(path: Path, trajectories: bool) -> UsualRows:
    """What this process has learned of the rows of an artifact: its next chunk has rows like those of the last."""
    return UsualRows(trajectories=trajectories)


def _records(piece: Chunk, format_: Format) -> Iterator[Sequence[Record]]:
    if piece.members and format_.member_records is not None:
        return ((record,) for record in format_.member_records(piece.path, piece.members))
    return format_.records(piece.path, piece.start, piece.end)


def record_problems(record: Record, artifact: str) -> Iterator[Problem]:
    """What could not be used of the files that a row was put together from."""
    source = RowSource(artifact=artifact, member=record.member)
    return (Problem(source=source, reason=reason) for reason in record.problems)


def _blocks(piece: Chunk, format_: Format, blocks: BlockReader, result: Scanned) -> Iterator[Block]:
    """Blocks of rows that were read; lines and problems go to `result`."""

    def read() -> Block:
        block = blocks.read(waiting)
        result.note(block.problems(piece.shown))
        return block

    waiting: list[Record] = []
    size = 0
    torn = None
    try:
        for records in _records(piece, format_):
            result.note([problem for record in records for problem in record_problems(record, piece.shown)])
            result.lines += len(records)
            waiting += [record for record in records if record.data or record.broken]
            size += sum(len(record.data) for record in records)
            if size >= BLOCK or len(waiting) >= ROWS:
                yield read()
                waiting, size = [], 0
    except Torn as error:
        torn = Problem(source=RowSource(artifact=piece.shown, line=result.lines + 1), reason=str(error))
    yield read()
    if torn is not None:
        result.note([torn])


class Block(Struct):
    """Records and what they gave."""

    records: Sequence[Record]
    first: int = 0
    """Records of the artifact before these."""
    parts: list[TablePart] = field(default_factory=list)
    """The rows that were read."""
    reasons: dict[int, str] = field(default_factory=dict)
    """What is wrong with a record, by its place."""

    def problems(self, artifact: str) -> list[Problem]:
        """In the order of the records."""
        return [
            Problem(source=source_of(self.records[place], artifact), reason=self.reasons[place])
            for place in sorted(self.reasons)
        ]


class _Other(Struct, frozen=True):
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
                self._read_together(block, [_mended_row(other.place, block.records[other.place].data)])
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
            block.parts.append(TablePart(places=[block.first + place for place in places], columns=columns))
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
        return _Other(place, record.data, row, None) if mended is None else _mended_row(place, record.data)
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


def _mended_row(place: int, line: bytes) -> _Other:
    data, why = mend(line)
    return _Other(place, data, decode_row(data)[0], why)


class RowTable(Struct, frozen=True, kw_only=True):
    """All light rows of a scan in the order of files and lines, with global line numbers and tool indexes."""

    rows: pl.DataFrame
    tools: tuple[str, ...]
    """In order of name, so that the order of rows does not show."""
    problems: dict[int, tuple[Problem, ...]]
    """By file; `problem_counts` also counts those beyond the list."""
    problem_counts: dict[int, int]
    settings: dict[tuple[int, Settings], int]
    seen: dict[int, dict[str, int]]
    counts: dict[int, int]


def gather(results: Sequence[Scanned]) -> RowTable:
    """One table from all chunks; chunks of one file must be in order."""
    tools = tuple(sorted({name for result in results for name in result.tools}))
    if len(tools) > MOST_TOOLS:
        # More than can be told apart: the last stands for the rest.
        tools = (*tools[: MOST_TOOLS - 1], OTHER_TOOLS)
    places = {name: place for place, name in enumerate(tools)}
    problems: dict[int, list[Problem]] = {}
    problem_counts: dict[int, int] = {}
    settings: dict[tuple[int, Settings], int] = {}
    seen: dict[int, dict[str, int]] = {}
    counts: dict[int, int] = {}
    lines: dict[int, int] = {}
    parts = []
    for result in results:
        file = result.chunk.file
        before = lines.get(file, 0)
        moved = [places.get(name, len(tools) - 1) for name in result.tools]
        parts += [_placed(part, file, before, moved) for part in result.parts]
        listed = problems.setdefault(file, [])
        listed += [_moved(problem, before) for problem in result.problems[: MOST_PROBLEMS - len(listed)]]
        problem_counts[file] = problem_counts.get(file, 0) + result.problem_count
        for setting, count in result.settings.items():
            settings[file, setting] = settings.get((file, setting), 0) + count
        for name, count in result.seen.items():
            seen.setdefault(file, {})[name] = seen.setdefault(file, {}).get(name, 0) + count
        counts[file] = counts.get(file, 0) + result.rows
        lines[file] = before + result.lines
    rows = pl.concat(parts or [_placed(to_frame([]), 0, 0, [])], how="diagonal_relaxed").collect()
    return RowTable(
        rows=_completed(in_one_piece(rows)),
        tools=tools,
        problems={file: tuple(listed) for file, listed in problems.items()},
        problem_counts=problem_counts,
        settings=settings,
        seen=seen,
        counts=counts,
    )


def _completed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with every column of the light table, in its order, also those that no part has."""
    absent = {name: pl.lit(None, dtype) for name, dtype in COLUMNS.items() if name not in rows.columns}
    if not absent:
        return rows
    return rows.with_columns(**absent).select(*COLUMNS, *(name for name in rows.columns if name not in COLUMNS))


def _placed(part: pl.DataFrame | Path, file: int, before: int, tools: list[int]) -> pl.LazyFrame:
    frame = part.lazy() if isinstance(part, pl.DataFrame) else pl.scan_ipc(part)
    frame = frame.with_columns(pl.lit(file, pl.Int32).alias("file"), pl.col("line") + before)
    if tools != list(range(len(tools))):
        moved = pl.element().replace_strict(list(range(len(tools))), tools, return_dtype=pl.UInt16)
        frame = frame.with_columns(pl.col("skeleton").list.eval(moved))
    return frame


def _moved(problem: Problem, before: int) -> Problem:
    source = problem.source
    if source.line is None or not before:
        return problem
    return Problem(source=msgspec.structs.replace(source, line=source.line + before), reason=problem.reason)
