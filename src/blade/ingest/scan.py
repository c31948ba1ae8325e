"""The one pass: each row is read once, every rollout rule looks at it, and a light row is kept.

A chunk is a byte range of one artifact. Scanning it is a pure function of the file and the range, so the same function
runs in this process or in workers, and its result does not depend on how many there are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import msgspec
import polars as pl

from blade.ingest.batch import UsualRows
from blade.ingest.block import Block, BlockReader
from blade.ingest.formats import Format, format_named
from blade.ingest.frames import in_one_piece
from blade.ingest.jsonl import Record, Torn, is_compressed
from blade.ingest.row import MOST_TOOLS, OTHER_TOOLS
from blade.ingest.row_table import COLUMNS, Part, to_frame
from blade.ingest.settings import Settings
from blade.ingest.workers import WORTH_WORKERS, cores, open_pool
from blade.model.finding import Detect
from blade.model.rollout import Problem, RowSource
from blade.model.tools import NO_CUSTOM_TOOLS, Tools, using_tools

PART = 5_000
"""Rows of a part of the light table."""
ROWS = 256
"""Rows that are read as one batch: enough to share what a batch costs, few enough to stay in the processor's cache."""
BLOCK = 4 << 20
"""Bytes of rows that are read as one batch, however few they are."""
CHUNK = 32 << 20
_GATHERED = ("line", "skeleton")
"""Columns that are changed when parts are put together."""
MOST_PROBLEMS = 1_000
"""Problems listed one by one for a file; all are counted."""


@dataclass(frozen=True, kw_only=True)
class ScanSettings:
    """How rows are read; the same for every chunk of a scan."""

    threshold: float = 1.0
    detect: Detect | None = None
    trajectories: bool = True
    tools: Tools = NO_CUSTOM_TOOLS


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A piece of an artifact that can be read alone."""

    file: int
    """Index of the artifact in the order of the scan."""
    path: Path
    shown: str
    format: str
    role: str
    start: int = 0
    end: int | None = None


@dataclass(kw_only=True)
class Scanned:
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


def chunks(file: int, path: Path, shown: str, format_: Format, role: str) -> list[Chunk]:
    """The pieces of an artifact: byte ranges of a large plain file, else the whole."""
    size = path.stat().st_size
    whole = Chunk(file=file, path=path, shown=shown, format=format_.name, role=role)
    if not format_.splittable or is_compressed(path) or size <= 2 * CHUNK:
        return [whole]
    return [
        Chunk(file=file, path=path, shown=shown, format=format_.name, role=role, start=start, end=end)
        for start, end in pairwise(edges(size))
    ]


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
    folder: Path,
    progress: Callable[[Chunk], None],
) -> list[Scanned]:
    """Every chunk's result in the order given.

    Large work goes to workers, which leave Arrow parts in `folder`: those of `pool` where a caller has started some
    already.
    """
    wanted = min(workers if workers is not None else cores(), len(pieces))
    if wanted <= 1 or (workers is None and sum(map(_size, pieces)) < WORTH_WORKERS):
        return [_reported(scan_chunk(piece, settings), progress) for piece in pieces]
    with nullcontext(pool) if pool is not None else open_pool(wanted) as ready:
        futures = [ready.submit(_scan_to_parts, piece, settings, folder, index) for index, piece in enumerate(pieces)]
        return [_reported(future.result(), progress) for future in futures]


def _reported(result: Scanned, progress: Callable[[Chunk], None]) -> Scanned:
    progress(result.chunk)
    return result


def _size(piece: Chunk) -> int:
    return (piece.end - piece.start) if piece.end is not None else piece.path.stat().st_size


def _scan_to_parts(piece: Chunk, settings: ScanSettings, folder: Path, index: int) -> Scanned:
    def keep(frame: pl.DataFrame, number: int) -> Path:
        path = folder / f"{index:06d}-{number:06d}.arrow"
        written = frame.select(name for name in frame.columns if _is_written(frame, name))
        written.write_ipc(path, compression="lz4")
        return path

    return scan_chunk(piece, settings, keep)


def _is_written(part: pl.DataFrame, name: str) -> bool:
    """Whether a part must have the column: one of the light table in which no row says anything is made anew."""
    return name in _GATHERED or name not in COLUMNS or part[name].null_count() < part.height


def scan_chunk(
    piece: Chunk,
    settings: ScanSettings,
    keep: Callable[[pl.DataFrame, int], pl.DataFrame | Path] = lambda frame, number: frame,
) -> Scanned:
    """Read one chunk; `keep` decides where a part of the light table goes."""
    format_ = format_named(piece.format)
    reader = format_.reader(
        role=piece.role, threshold=settings.threshold, detect=settings.detect, trajectories=settings.trajectories
    )
    blocks = BlockReader(reader, format_.as_row, piece.shown, _usual_rows(piece.path, settings.trajectories))
    result = Scanned(chunk=piece)
    waiting: list[Part] = []
    with using_tools(settings.tools):
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


def _blocks(piece: Chunk, format_: Format, blocks: BlockReader, result: Scanned) -> Iterator[Block]:
    """Blocks of rows that were read; lines and problems go to `result`."""
    waiting: list[Record] = []
    size = 0
    torn = None
    try:
        for records in format_.records(piece.path, piece.start, piece.end):
            result.lines += len(records)
            waiting += [record for record in records if record.data or record.broken]
            size += sum(len(record.data) for record in records)
            if size >= BLOCK or len(waiting) >= ROWS:
                yield _read(blocks, waiting, piece, result)
                waiting, size = [], 0
    except Torn as error:
        torn = Problem(source=RowSource(artifact=piece.shown, line=result.lines + 1), reason=str(error))
    yield _read(blocks, waiting, piece, result)
    if torn is not None:
        _note(result, [torn])


def _read(blocks: BlockReader, records: Sequence[Record], piece: Chunk, result: Scanned) -> Block:
    block = blocks.read(records)
    _note(result, block.problems(piece.shown))
    return block


def _note(result: Scanned, problems: Sequence[Problem]) -> None:
    result.problem_count += len(problems)
    result.problems += problems[: MOST_PROBLEMS - len(result.problems)]


@dataclass(frozen=True, kw_only=True)
class Table:
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


def gather(results: Sequence[Scanned]) -> Table:
    """One table from all chunks; chunks of one file must be in order."""
    tools = _tools(results)
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
    return Table(
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


def _tools(results: Sequence[Scanned]) -> tuple[str, ...]:
    """Every tool by name; where there are more than can be told apart, the last stands for the rest."""
    names = sorted({name for result in results for name in result.tools})
    return tuple(names) if len(names) <= MOST_TOOLS else (*names[: MOST_TOOLS - 1], OTHER_TOOLS)


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


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Where workers leave their parts; gone when the scan is over."""
    return tempfile.TemporaryDirectory(prefix="blade-scan-")
