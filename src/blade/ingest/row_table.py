"""What the scan keeps of each row of an artifact: the columns of the light table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import polars as pl

from blade.ingest.cells import Column
from blade.model.finding import Difference, Sign


class Light(msgspec.Struct, gc=False):
    """What is kept of a rollout that a rule may look at, beside its trajectory."""

    outcome: str | None = None
    reward: float | None = None
    answer: str | None = None
    expected: str | None = None
    stop: str | None = None
    output_tokens: int | None = None
    seconds: float | None = None


LIGHT = tuple(field.name for field in msgspec.structs.fields(Light))

HIT = pl.Struct({"code": pl.String, "step": pl.Int32, "field": pl.String, "start": pl.Int32, "length": pl.Int32})
SIGN = pl.Struct({"kind": pl.String, "subject": pl.String, "quote": pl.String, "field": pl.String, "step": pl.Int32})
STATUS = pl.Struct({"field": pl.String, "value": pl.String})
PHASE = pl.Struct({"name": pl.String, "seconds": pl.Float64, "field": pl.String})
DIFFERENCE = pl.Struct({"kind": pl.String, "name": pl.String, "detail": pl.String, "step": pl.Int32})

COLUMNS: dict[str, pl.DataType] = {
    "role": pl.String(),
    "id": pl.String(),
    "index": pl.Int64(),
    "repeat": pl.Int32(),
    "attempt": pl.Int32(),
    "agent": pl.String(),
    "model": pl.String(),
    "skills": pl.String(),
    "outcome": pl.String(),
    "reward": pl.Float64(),
    "error_class": pl.String(),
    "stop": pl.String(),
    "answer": pl.String(),
    "answer_fp": pl.UInt64(),
    "output_fp": pl.UInt64(),
    "expected": pl.String(),
    "key_expects": pl.String(),
    "steps": pl.Int32(),
    "calls": pl.Int32(),
    "tool_errors": pl.Int32(),
    "agent_chars": pl.Int64(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "seconds": pl.Float64(),
    "cost": pl.Float64(),
    "skeleton": pl.List(pl.UInt16),
    "fired": pl.List(HIT),
    "cannot_check": pl.List(pl.String),
    "checks_met": pl.Int32(),
    "checks_asked": pl.Int32(),
    "differs": pl.List(DIFFERENCE),
    "attempted": pl.Boolean(),
    "feedback": pl.Boolean(),
    "reached": pl.List(pl.String),
    "signs": pl.List(SIGN),
    "statuses": pl.List(STATUS),
    "phases": pl.List(PHASE),
    "prompt_fp": pl.UInt64(),
    "member": pl.String(),
    "offset": pl.Int64(),
    "length": pl.Int64(),
    "line": pl.Int64(),
}

MOST_EXTRAS = 300
"""Columns of small values in a batch; the commonest are kept."""
KEY = "key:"
EXTRA = "extra:"
FILE = "file"
"""The column that says of which file a row is; where all rows of a part are of one, it is left out."""
CHECKS = "checks"
"""The column of tests and criteria: for each twice the number of its name, and one more where it holds. Their names are
kept once beside the table: spelled out they would take more memory than all other columns."""


class TablePart(msgspec.Struct, frozen=True, kw_only=True):
    """Some rows of the light table: where they stand among the others, and their columns."""

    places: Sequence[int]
    columns: Mapping[str, Column]


def to_frame(parts: Sequence[TablePart]) -> pl.DataFrame:
    """All rows in order. A task's own fields are `key:<name>`, small values `extra:<name>`, in order of name."""
    height = sum(len(part.places) for part in parts)
    names = {name for part in parts for name in part.columns}
    dtypes = COLUMNS | {name: pl.UInt64() for name in sorted(names) if name.startswith(KEY)}
    dtypes |= {name: pl.String() for name in _common(parts)}
    dtypes |= {FILE: pl.Int32()} if FILE in names else {}
    places = list(chain.from_iterable(part.places for part in parts))
    # Where each row goes to; None when they are in order.
    order = None if places == sorted(places) else sorted(range(height), key=places.__getitem__)
    columns = {name: _joined(parts, name, order) if name in names else () for name in (*dtypes, CHECKS)}
    frame = {name: _column(name, columns[name], dtype, height) for name, dtype in dtypes.items()}
    if any(columns[CHECKS]):
        frame[CHECKS] = _number_lists(CHECKS, columns[CHECKS])
    return pl.DataFrame(frame)


def _number_lists(name: str, values: Sequence[list[int] | None]) -> pl.Series:
    """A column of lists of numbers, null where there is none."""
    lengths = [len(value) if value else 0 for value in values]
    places = np.repeat(np.arange(len(values), dtype=np.uint32), lengths)
    numbers = np.fromiter(chain.from_iterable(value for value in values if value), np.uint32, sum(lengths))
    listed = pl.DataFrame({"place": places, name: numbers}).group_by("place", maintain_order=True).agg(name)
    everyone = pl.DataFrame({"place": np.arange(len(values), dtype=np.uint32)})
    return everyone.join(listed, on="place", how="left", maintain_order="left")[name]


def _joined(parts: Sequence[TablePart], name: str, order: list[int] | None) -> Column:
    column: list[Any] = []
    for part in parts:
        column += part.columns.get(name) or [None] * len(part.places)
    return column if order is None else [column[place] for place in order]


def _common(parts: Sequence[TablePart]) -> list[str]:
    """Small values; where rows bring ever new ones, only those that could still become slices."""
    counts: Counter[str] = Counter()
    for part in parts:
        for name, column in part.columns.items():
            if name.startswith(EXTRA):
                counts[name] += len(column) - column.count(None)
    return sorted(sorted(counts, key=lambda name: (-counts[name], name))[:MOST_EXTRAS])


def _column(name: str, values: Column, dtype: pl.DataType, height: int) -> pl.Series:
    if not values:
        return pl.Series(name, [None], dtype).new_from_index(0, height)
    make = _NESTED.get(name, partial(pl.Series, dtype=dtype, strict=False))
    if values[0] == values[-1] and values.count(values[0]) == height:
        # Most columns of a part hold one value, or none: made at once, not row by row.
        return make(name, values[:1]).new_from_index(0, height)
    return make(name, values)


# Nested values are handed over as text and taken apart inside polars, each different one once: made from Python lists, a
# column of them costs more than everything else in a row.


def _numbers(name: str, values: Sequence[list[int] | None]) -> pl.Series:
    texts = [",".join(map(str, value)) if value else None for value in values]
    return pl.Series(name, texts, pl.String).str.split(",").cast(pl.List(pl.UInt16))


def _texts(name: str, values: Sequence[tuple[str, ...]]) -> pl.Series:
    return pl.Series(name, ["\n".join(value) if value else None for value in values], pl.String).str.split("\n")


def differences(name: str, values: Sequence[tuple[Difference, ...]]) -> pl.Series:
    """A column of differences, null where a rollout has none."""
    return _structs(name, values, DIFFERENCE)


def signs(name: str, values: Sequence[tuple[Sign, ...]]) -> pl.Series:
    """A column of signs, null where a rollout has none."""
    return _structs(name, values, SIGN)


def _structs(name: str, values: Sequence[tuple[msgspec.Struct, ...]], dtype: pl.Struct) -> pl.Series:
    different: dict[tuple[msgspec.Struct, ...], int] = {}
    places = [different.setdefault(value, len(different)) for value in values]
    texts = [msgspec.json.encode(value).decode() if value else None for value in different]
    made = pl.Series(name, texts, pl.String).str.json_decode(pl.List(dtype))
    return made.gather(pl.Series(places, dtype=pl.UInt32))


_NESTED: dict[str, Callable[[str, Sequence[Any]], pl.Series]] = {
    "skeleton": _numbers,
    "cannot_check": _texts,
    "reached": _texts,
    "fired": partial(_structs, dtype=HIT),
    "differs": differences,
    "signs": partial(_structs, dtype=SIGN),
    "statuses": partial(_structs, dtype=STATUS),
    "phases": partial(_structs, dtype=PHASE),
}
