"""The natural order of tasks, in which `task10` comes after `task9`; every table of a run is in it."""

from __future__ import annotations

import re

import polars as pl

from blade.ingest.frames import looked_up, reordered

_SPLIT = re.compile(r"(\d+)")
_PLAIN = r"^(?:0|[1-9][0-9]{0,17})$"
"""Ids that are numbers, and in order as these."""
_DIGITS = 18
_ODD = r"[^ -~]|[0-9]{19}"
"""Ids that only the sort key puts in order: other alphabets have digits too, and some numbers are long."""
_HALF = 1 << 32


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which `task10` comes after `task9`; no two texts have the same."""
    parts = ((part, part.lstrip("0")) for part in _SPLIT.split(text) if part)
    key = tuple((0, len(digits), digits) if part.isdecimal() else (1, 0, part) for part, digits in parts)
    return (*key, (-1, 0, text))


def in_natural_order(rows: pl.DataFrame, known: pl.Series | None = None) -> pl.DataFrame:
    """The rows in natural order of their tasks and, within a task, of their repeats; those that tie stay as they were.

    `known` are tasks that are in order, as far as a caller has them. The same table where the rows are in order; else
    `rows` are emptied on the way, and each column comes in one piece.
    """
    keys = _ranks(rows["task_id"], known) * _HALF + rows["repeat"].fill_null(-1)
    if keys.is_sorted():
        return rows
    return reordered(rows, pl.DataFrame({"key": keys}).select(pl.arg_sort_by("key", maintain_order=True)).to_series())


def natural_sorted(names: pl.Series) -> pl.Series:
    """The names, which differ, in natural order."""
    if names.str.contains(_ODD).any():
        return pl.Series(names.name, sorted(names.to_list(), key=natural), pl.String)
    return names.to_frame().sort(_sortable(names.name)).to_series()


def _ranks(ids: pl.Series, known: pl.Series | None) -> pl.Series:
    """A number for each id, the same for the same, in natural order."""
    if ids.str.contains(_PLAIN).all():
        numbers = ids.cast(pl.Int64)
        return numbers if numbers.is_between(0, _HALF // 2).all() else numbers.rank("dense").cast(pl.Int64)
    ranks = _places(ids, known) if known is not None else None
    if ranks is None or ranks.null_count():
        ranks = _places(ids, natural_sorted(ids.unique()))
    return ranks.cast(pl.Int64)


def _places(ids: pl.Series, order: pl.Series) -> pl.Series:
    """Where each id stands in the order; null where it does not."""
    return looked_up(ids.to_frame("id"), order.to_frame("id").with_row_index("place"), "id").to_series()


def _sortable(name: str) -> pl.Expr:
    """Texts whose order is the natural order of the ids: numbers come before words, and nothing before either."""
    part = pl.element()
    number = pl.lit("\x01") + part.str.strip_chars_start("0").str.zfill(_DIGITS)
    coded = pl.when(part.str.contains("^[0-9]")).then(number).otherwise(pl.lit("\x02") + part)
    parts = pl.col(name).str.extract_all("[0-9]+|[^0-9]+").list.eval(coded)
    return pl.concat_str(parts.list.join(""), pl.lit("\x00"), pl.col(name))
