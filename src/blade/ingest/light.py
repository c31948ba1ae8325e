"""The light row that the scan keeps of each row of an artifact, and its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import polars as pl

from blade.core.finding import Difference, Hit


class Light(msgspec.Struct, gc=False, kw_only=True):
    """Everything that later stages need of a row, without its texts."""

    role: str = "rollouts"
    id: str | None = None
    index: int | None = None
    repeat: int | None = None
    attempt: int | None = None
    agent: str | None = None
    model: str | None = None
    skills: str | None = None
    outcome: str | None = None
    reward: float | None = None
    error_class: str | None = None
    stop: str | None = None
    answer: str | None = None
    answer_fp: int | None = None
    output_fp: int | None = None
    expected: str | None = None
    key_expects: str | None = None
    steps: int | None = None
    calls: int | None = None
    tool_errors: int | None = None
    agent_chars: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    skeleton: list[int] | None = None
    fired: tuple[Hit, ...] = ()
    cannot_look: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    attempted: bool | None = None
    feedback: bool | None = None
    prompt_fp: int | None = None
    keys: dict[str, int] = {}
    extras: dict[str, str] = {}
    checks: list[tuple[str, bool]] | None = None
    member: str | None = None
    offset: int | None = None
    length: int | None = None
    line: int | None = None


HIT = pl.Struct({"code": pl.String, "step": pl.Int32, "field": pl.String, "start": pl.Int32, "length": pl.Int32})
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
    "cannot_look": pl.List(pl.String),
    "differs": pl.List(DIFFERENCE),
    "attempted": pl.Boolean(),
    "feedback": pl.Boolean(),
    "prompt_fp": pl.UInt64(),
    "member": pl.String(),
    "offset": pl.Int64(),
    "length": pl.Int64(),
    "line": pl.Int64(),
}

_FIELDS = tuple(field.name for field in msgspec.structs.fields(Light))
MOST_EXTRAS = 300
"""Columns of small values in a batch; the commonest are kept."""
KEY = "key:"
EXTRA = "extra:"
CHECKS = pl.List(pl.Struct({"name": pl.String, "passed": pl.Boolean}))


def to_frame(rows: Sequence[Light]) -> pl.DataFrame:
    """One column a field; a task's own fields become `key:<name>`, small values `extra:<name>`, in order of name."""
    fields_ = dict(zip(_FIELDS, zip(*map(msgspec.structs.astuple, rows), strict=True), strict=True)) if rows else {}
    columns = {name: _column(name, fields_.get(name, ()), dtype) for name, dtype in COLUMNS.items()}
    for name in sorted({name for row in rows for name in row.keys}):
        columns[KEY + name] = pl.Series(KEY + name, [row.keys.get(name) for row in rows], pl.UInt64)
    for name in _common(rows):
        columns[EXTRA + name] = pl.Series(EXTRA + name, [row.extras.get(name) for row in rows], pl.String)
    if any(row.checks for row in rows):
        values = [[{"name": n, "passed": p} for n, p in row.checks] if row.checks else None for row in rows]
        columns["checks"] = pl.Series("checks", values, CHECKS)
    return pl.DataFrame(columns)


def _common(rows: Sequence[Light]) -> list[str]:
    """Names of small values; where rows bring ever new ones, only those that could still become slices."""
    counts = Counter(name for row in rows for name in row.extras)
    if len(counts) <= MOST_EXTRAS:
        return sorted(counts)
    often = sorted(counts, key=lambda name: (-counts[name], name))
    return sorted(often[:MOST_EXTRAS])


def _column(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if name in _NESTED:
        return _NESTED[name](name, values)
    if values and values.count(values[0]) == len(values):
        # Most columns of a batch hold one value, or none: made at once, not row by row.
        return pl.repeat(values[0], len(values), dtype=dtype, eager=True).alias(name)
    return pl.Series(name, values, dtype, strict=False)


# Nested values are handed over as text and taken apart inside polars: made from Python lists, a column of them costs
# more than everything else in a row.


def _numbers(name: str, values: Sequence[list[int] | None]) -> pl.Series:
    texts = [",".join(map(str, value)) if value else None for value in values]
    return pl.Series(name, texts, pl.String).str.split(",").cast(pl.List(pl.UInt16))


def _codes(name: str, values: Sequence[tuple[str, ...]]) -> pl.Series:
    return pl.Series(name, [",".join(value) if value else None for value in values], pl.String).str.split(",")


def _hits(name: str, values: Sequence[tuple[Hit, ...]]) -> pl.Series:
    return _structs(name, values, HIT)


def differences(name: str, values: Sequence[tuple[Difference, ...]]) -> pl.Series:
    """A column of differences, null where a rollout has none."""
    return _structs(name, values, DIFFERENCE)


def _structs(name: str, values: Sequence[tuple[msgspec.Struct, ...]], dtype: pl.Struct) -> pl.Series:
    texts = [msgspec.json.encode(value).decode() if value else None for value in values]
    return pl.Series(name, texts, pl.String).str.json_decode(pl.List(dtype))


_NESTED: dict[str, Callable[[str, Sequence[Any]], pl.Series]] = {
    "skeleton": _numbers,
    "cannot_look": _codes,
    "fired": _hits,
    "differs": differences,
}
