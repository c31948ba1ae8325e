"""Tables of scores: CSV, TSV, Parquet and Arrow files, a row a rollout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from blade.ingest.decode import Row, decode_any, decode_row, encode
from blade.ingest.fields import ID_NAMES, VERDICTS
from blade.ingest.foreign_rows import name_models, named_attempt
from blade.ingest.formats import FileHead, Format
from blade.ingest.jsonl import Record, Torn, whole_bytes
from blade.ingest.mapping import guesses, reward_of
from blade.ingest.roles.results import is_result

if TYPE_CHECKING:
    import polars as pl

_TEXT = {".csv": ",", ".tsv": "\t"}
_BINARY = {".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1", ".ipc": b"ARROW1"}
_ROWS = 1_000
_SAMPLE = 50
"""Rows that a refusal looks at to guess what columns are."""
_MOST_NAMES = 12
_SEPARATORS = ",;\t|"
_SCORES = frozenset(("reward", "score", *VERDICTS))
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
"""A number as JSON writes it: `007` is a name."""
_DECIMAL_COMMA = re.compile(r"-?(?:0|[1-9]\d{0,17}),(?:\d{1,2}|\d{4,6})")
"""A cell such as `0,5`; where commas separate cells it can stand in quotes only, and three digits after it may be thousands."""
_WORDS = {"true": True, "false": False, "": None, "null": None, "none": None, "nan": None, "na": None, "n/a": None}


def recognizes(head: FileHead) -> bool:
    """By the ending, and by what the file begins with where it has a mark."""
    ending = _ending(head.path)
    if ending in _BINARY:
        return head.start.startswith(_BINARY[ending])
    return ending in _TEXT and any(mark.encode() in head.start.split(b"\n", 1)[0] for mark in _SEPARATORS)


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix in (".gz", ".zst") else path).suffix.lower()


def table(path: Path, rows: int | None = None) -> pl.DataFrame:
    """The table, or its first rows; cells of a text file stay texts. Raises `Torn` when it cannot be read."""
    import polars as pl

    ending = _ending(path)
    try:
        data = whole_bytes(path)
        if ending == ".parquet":
            return pl.read_parquet(data, n_rows=rows)
        if ending in _BINARY:
            return pl.read_ipc(data, n_rows=rows)
        return pl.read_csv(
            data,
            n_rows=rows,
            separator=_separator(data, _TEXT[ending]),
            infer_schema=False,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )
    except (pl.exceptions.PolarsError, OSError, EOFError) as error:
        raise Torn(f"the table cannot be read: {str(error).split(chr(10), 1)[0]}") from None


def _separator(data: bytes, usual: str) -> str:
    """What separates the names in the first line: the usual mark, or another that stands there more often."""
    first = data.split(b"\n", 1)[0]
    return max(_SEPARATORS, key=lambda mark: (first.count(mark.encode()), mark == usual))


def refusal(path: Path) -> str:
    """A table without a score is no run, whatever else its columns are called."""
    try:
        whole = table(path, rows=_SAMPLE)
    except Torn as torn:
        return str(torn)
    names = [name.strip() for name in whole.columns]
    if {*names} & _SCORES or _judged_columns(whole):
        return ""
    shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    encoded = [_encoded(row, _ending(path) in _TEXT) for row in whole.iter_rows(named=True)]
    rows = [{name: raw for name, raw in decode_row(row)[0].items() if name != "reward"} for row in encoded]
    if _is_judged(rows):
        return ""
    return f"none of its columns is a reward, a score or a verdict such as `passed` (they are {shown}); {guesses(rows)}"


def _is_judged(rows: Sequence[Row]) -> bool:
    """Whether the values of the rows show one of the columns to be the verdict."""
    from blade.ingest.roles.learn import learn_roles

    return bool(learn_roles([{name: decode_any(raw) for name, raw in row.items()} for row in rows]).paths("reward"))


def _judged_columns(whole: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Columns that hold one verdict each, and what each stands for: an attempt, or a model; none where they may be criteria.

    `run1`, `run2` are attempts.
    """
    judged = [name for name in whole.columns if _is_judged_column(whole[name].to_list())]
    attempts = {name: one[1] for name in judged if (one := named_attempt(f"x.{name.strip()}")) is not None}
    if len(attempts) > 1 and len(attempts) == len(judged):
        return {name: {"repeat": number} for name, number in attempts.items()}
    if name_models(judged) and not {*map(str.strip, whole.columns)} & _SCORES:
        return {name: {"model": name.strip()} for name in judged}
    return {}


def _is_judged_column(cells: Sequence[Any]) -> bool:
    """Whether all that a column says is pass or fail, and both or in words."""
    said = [_value(cell) if isinstance(cell, str) else cell for cell in cells if cell not in (None, "")]
    return bool(said) and all(map(is_result, said)) and (len({*map(str, said)}) > 1 or isinstance(said[0], str))


class _Rollouts:
    """The rollouts of a table: one a row, or one for each column of a row that holds a verdict."""

    def __init__(self, path: Path) -> None:
        self.whole, self.is_text = table(path), _ending(path) in _TEXT
        self.judged = _judged_columns(self.whole)
        rest = [name for name in self.whole.columns if name not in self.judged]
        tells = None if not {*ID_NAMES}.isdisjoint(rest) else next(filter(self._tells_apart, rest), "")
        self.named_by = tells
        """The column that names the tasks; empty where their number does, None where an id is among them."""

    def _tells_apart(self, name: str) -> bool:
        return self.whole[name].n_unique() == self.whole.height

    def at(self, place: int) -> Iterator[tuple[str, bytes]]:
        """Those of one row, by what finds each again."""
        row = self.whole.row(place, named=True)
        if not self.judged:
            yield str(place), _encoded(row, self.is_text)
            return
        cells = {name: _value(cell) for name, cell in row.items()} if self.is_text else row
        rest = {name: cell for name, cell in cells.items() if name not in self.judged}
        rest |= {} if self.named_by is None else {"task_id": str(row[self.named_by] if self.named_by else place)}
        for name, about in self.judged.items():
            if cells[name] is not None:
                yield f"{place}/{name}", _encoded({**rest, **about, "reward": reward_of(cells[name])}, False)


def records(path: Path, start: int, end: int | None) -> Iterator[Sequence[Record]]:
    """Rows in their order, some at a time."""
    found = _Rollouts(path)
    for first in range(0, found.whole.height, _ROWS):
        places = range(first, min(first + _ROWS, found.whole.height))
        yield [Record(data, None, None, member) for place in places for member, data in found.at(place)]


def fetch(path: Path, members: Sequence[str]) -> Iterator[bytes]:
    """Some rows, by their numbers from 0, and by the column that judges them where several do."""
    found = _Rollouts(path)
    for member in members:
        place = int(member.partition("/")[0])
        yield dict(found.at(place)).get(member, b"") if place < found.whole.height else b""


def _encoded(row: dict[str, Any], is_text: bool) -> bytes:
    cells = {name.strip(): _value(cell) if is_text else cell for name, cell in row.items()}
    if "reward" not in cells and "score" not in cells:
        # A row of a table is a result by itself; elsewhere a verdict alone may be said of anything.
        verdict = next((cells[name] for name in VERDICTS if cells.get(name) in (0, 1)), None)
        cells["reward"] = float(verdict) if verdict is not None else None
    # A row without a verdict is a rollout all the same.
    return encode({name: cell for name, cell in cells.items() if cell is not None or name == "reward"})


def _value(cell: str | None) -> Any:
    """What a cell of a text file holds: a number, a truth value, a JSON list or object, nothing, or the text."""
    if cell is None or cell.strip().lower() in _WORDS:
        return None if cell is None else _WORDS[cell.strip().lower()]
    text = cell.strip()
    if _NUMBER.fullmatch(text):
        return float(text) if {".", "e", "E"} & set(text) else int(text)
    if _DECIMAL_COMMA.fullmatch(text):
        return float(text.replace(",", "."))
    if text[0] in "[{" and text[-1] in "]}":
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return cell
    return cell


FORMAT = Format(
    name="table",
    order=15,
    recognizes=recognizes,
    records=records,
    fetch=fetch,
    refusal=refusal,
)
