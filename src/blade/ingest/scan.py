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
from blade.ingest.formats import Format, format_named
from blade.ingest.frames import in_one_piece, looked_up
from blade.ingest.jsonl import Record, Torn, is_compressed, source_of
from blade.ingest.mapping import with_map
from blade.ingest.row import MOST_TOOLS, OTHER_TOOLS, RowReader
from blade.ingest.row_table import CHECKS, COLUMNS, FILE, TablePart, to_frame
from blade.ingest.settings import Settings, SettingsSeen
from blade.ingest.workers import WORTH_WORKERS, cores, open_pool
from blade.model.errors import BladeError
from blade.model.field_map import FieldMap
from blade.model.finding import Detect
from blade.model.limits import DEFAULT_LIMITS, ReadLimits, using_limits
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
"""Trials of a run folder that are read together, at least: each is several small files."""
MEMBER_PIECES = 16
"""Pieces of a run folder, at most: what its summary says of all trials is read for each of them."""
FILES = 500
"""Small files that are scanned together: tables are made of their rows together, which costs more than reading them."""
SMALL = 1 << 18
"""Bytes of a file that is scanned together with others."""
OPENING = 20_000
"""Bytes that can be read in the time that it takes to open a file and to begin with it."""
MEMBER = 200_000
"""Bytes that the files of a trial are taken to have, to tell whether workers are worth their start."""
_GATHERED = ("line", "skeleton", FILE)
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
    limits: ReadLimits = DEFAULT_LIMITS


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

    @property
    def size(self) -> int:
        """Its bytes on disk."""
        if self.members:
            return len(self.members) * MEMBER
        return (self.end - self.start) if self.end is not None else _size(self.path)


def _size(path: Path) -> int:
    """Bytes on disk; none of a file that is no longer there, which its reading reports."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


class Scanned(Struct, kw_only=True):
    """What a chunk gave: parts of the light table, problems, and what it says about the run and the schema."""

    chunk: Chunk
    parts: list[pl.DataFrame | Path] = field(default_factory=list)
    rows: int = 0
    lines: int = 0
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    tools: tuple[str, ...] = ()
    check_names: pl.Series | None = None
    settings: dict[Settings, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    """Top-level fields and in how many rows each stands."""

    def note(self, problems: Sequence[Problem]) -> None:
        """Count problems, and list them as far as there is room."""
        self.problem_count += len(problems)
        self.problems += problems[: MOST_PROBLEMS - len(self.problems)]


def chunks(files: Files) -> list[Chunk]:
    """The pieces to read: byte ranges of large plain files, else whole files."""
    pieces = []
    for number, path in enumerate(files.paths):
        name, size = files.formats[number], _size(path)
        whole = Chunk(file=number, path=path, shown=files.shown(path), format=name, role=files.roles[number])
        members_of = format_named(name).members
        if members_of is not None and path.is_dir():
            members = tuple(members_of(path))
            size = max(MEMBERS, -(-len(members) // MEMBER_PIECES))
            parts = [members[first : first + size] for first in range(0, len(members), size)]
            pieces += [msgspec.structs.replace(whole, members=part) for part in parts]
        elif size <= 2 * CHUNK or not format_named(name).splittable or is_compressed(path):
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


def together(pieces: Sequence[Chunk]) -> list[list[Chunk]]:
    """The pieces as they are scanned: neighbors that are small files with the same role together, others alone."""
    loads: list[list[Chunk]] = []
    room = 0
    for piece in pieces:
        small = piece.end is None and not piece.members and piece.size <= SMALL
        if small and room and loads[-1][0].role == piece.role and len(loads[-1]) < FILES:
            loads[-1].append(piece)
        else:
            loads.append([piece])
            room = CHUNK if small else 0
        room = max(0, room - piece.size)
    return loads


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
    loads = together(pieces)

    def done(some: Sequence[Scanned]) -> None:
        results.extend(some)
        progress(len(results), len(pieces))

    wanted = min(workers if workers is not None else cores(), len(loads))
    if wanted <= 1 or (workers is None and sum(OPENING + piece.size for piece in pieces) < WORTH_WORKERS):
        for load in loads:
            done(scan_chunks(load, settings))
        if pool is not None:
            pool.shutdown(wait=False)
        return gather(results)
    with tempfile.TemporaryDirectory(prefix="blade-scan-") as folder:
        with nullcontext(pool) if pool is not None else open_pool(wanted) as ready:
            submitted = [
                ready.submit(_scan_to_parts, load, settings, Path(folder), index) for index, load in enumerate(loads)
            ]
            for future in submitted:
                done(future.result())
            # Their memory is given back before the tables take theirs.
            ready.shutdown(wait=False)
        return gather(results)


def _scan_to_parts(load: Sequence[Chunk], settings: ScanSettings, folder: Path, index: int) -> list[Scanned]:
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

    return scan_chunks(load, settings, keep)


def scan_chunk(piece: Chunk, settings: ScanSettings) -> Scanned:
    """Read one chunk."""
    return scan_chunks([piece], settings)[0]


def scan_chunks(
    load: Sequence[Chunk],
    settings: ScanSettings,
    keep: Callable[[pl.DataFrame, int], pl.DataFrame | Path] = lambda frame, number: frame,
) -> list[Scanned]:
    """Read one chunk, or several small files of one role, whose rows come together as parts of the first.

    `keep` decides where a part of the light table goes.
    """
    reader = RowReader(
        role=load[0].role, threshold=settings.threshold, detect=settings.detect, trajectories=settings.trajectories
    )
    results: list[Scanned] = []
    waiting: list[TablePart] = []
    rows = before = 0
    with using_tools(settings.tools), using_limits(settings.limits):
        for piece in load:
            format_, result = format_named(piece.format), Scanned(chunk=piece)
            results.append(result)
            reader.settings = SettingsSeen()
            usual = _usual_rows(piece.path.parent, piece.format, settings.trajectories)
            blocks = BlockReader(
                reader, with_map(format_.as_row, settings.field_map), piece.shown, usual, before=before
            )
            for block in _blocks(piece, format_, blocks, result):
                height = sum(len(part.places) for part in block.parts)
                waiting += block.parts if len(load) == 1 else [_of_file(part, piece.file) for part in block.parts]
                result.rows += height
                rows += height
                if rows >= PART:
                    results[0].parts.append(keep(to_frame(waiting), len(results[0].parts)))
                    waiting, rows = [], 0
            result.settings, result.seen, before = reader.settings.counts, blocks.seen, blocks.before
    if waiting:
        results[0].parts.append(keep(to_frame(waiting), len(results[0].parts)))
    results[0].tools = tuple(reader.tools)
    if reader.check_names:
        results[0].check_names = pl.Series("name", list(reader.check_names), pl.String)
    return results


def _of_file(part: TablePart, file: int) -> TablePart:
    """A part that says of which file its rows are, beside those of others."""
    return TablePart(places=part.places, columns={**part.columns, FILE: [file] * len(part.places)})


@lru_cache(maxsize=4)
def _usual_rows(folder: Path, format_: str, trajectories: bool) -> UsualRows:
    """What this process has learned of the rows of a folder: its next chunk, or file, has rows like those of the last."""
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
    except (Torn, OSError) as error:
        torn = Problem(source=RowSource(artifact=piece.shown, line=result.lines + 1), reason=_why_torn(error))
    yield read()
    if torn is not None:
        result.note([torn])


def _why_torn(error: Exception) -> str:
    return f"it cannot be read: {error.strerror or error}" if isinstance(error, OSError) else str(error)


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
    """Reads the blocks of one artifact, in order. `seen` counts in how many rows each field stands, `before` the records.

    What `usual` learns here saves time wherever it is used next, and changes nothing that is read.
    """

    def __init__(
        self,
        reader: RowReader,
        as_row: Callable[[Row], Row] | None,
        artifact: str,
        usual: UsualRows,
        before: int = 0,
    ) -> None:
        self.seen: dict[str, int] = {}
        self._reader = reader
        self._as_row = as_row
        self._artifact = artifact
        self._usual = usual
        self.before = before

    def read(self, records: Sequence[Record]) -> Block:
        """One block; every record gave a row, a problem, or both."""
        block = Block(records, self.before)
        self.before += len(records)
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
    check_names: pl.Series
    """The name of each number in the column of checks."""
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
    check_names = _all_names(results)
    parts = []
    for result in results:
        file = result.chunk.file
        before = lines.get(file, 0)
        moved = [places.get(name, len(tools) - 1) for name in result.tools]
        placed = [_placed(part, file, before, moved) for part in result.parts]
        parts += [_with_checks_moved(part, result.check_names, check_names) for part in placed]
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
        check_names=check_names,
        problems={file: tuple(listed) for file, listed in problems.items()},
        problem_counts=problem_counts,
        settings=settings,
        seen=seen,
        counts=counts,
    )


def _all_names(results: Sequence[Scanned]) -> pl.Series:
    """The names of tests and criteria, each once, in the order of the chunks."""
    named = [result.check_names for result in results if result.check_names is not None]
    if not named:
        return pl.Series("name", [], pl.String)
    return pl.concat(named).unique(maintain_order=True) if len(named) > 1 else named[0]


def _with_checks_moved(part: pl.LazyFrame, mine: pl.Series | None, everyone: pl.Series) -> pl.LazyFrame:
    """The part with the numbers that the names of its checks have among all."""
    if mine is None or mine.equals(everyone) or CHECKS not in part.collect_schema():
        return part
    places = looked_up(mine.to_frame(), everyone.to_frame().with_row_index("place"), "name")["place"]
    moved = pl.concat([places * 2, places * 2 + 1]).cast(pl.UInt32)
    numbers = pl.int_range(len(mine), dtype=pl.UInt32, eager=True)
    old = pl.concat([numbers * 2, numbers * 2 + 1])
    return part.with_columns(pl.col(CHECKS).list.eval(pl.element().replace_strict(old, moved, return_dtype=pl.UInt32)))


def _completed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with every column of the light table, in its order, also those that no part has."""
    absent = {name: pl.lit(None, dtype) for name, dtype in COLUMNS.items() if name not in rows.columns}
    if not absent:
        return rows
    return rows.with_columns(**absent).select(*COLUMNS, *(name for name in rows.columns if name not in COLUMNS))


def _placed(part: pl.DataFrame | Path, file: int, before: int, tools: list[int]) -> pl.LazyFrame:
    frame = part.lazy() if isinstance(part, pl.DataFrame) else pl.scan_ipc(part)
    if FILE not in frame.collect_schema():
        frame = frame.with_columns(pl.lit(file, pl.Int32).alias(FILE), pl.col("line") + before)
    if tools != list(range(len(tools))):
        moved = pl.element().replace_strict(list(range(len(tools))), tools, return_dtype=pl.UInt16)
        frame = frame.with_columns(pl.col("skeleton").list.eval(moved))
    return frame


def _moved(problem: Problem, before: int) -> Problem:
    source = problem.source
    if source.line is None or not before:
        return problem
    return Problem(source=msgspec.structs.replace(source, line=source.line + before), reason=problem.reason)
