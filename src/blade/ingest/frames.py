"""Work on wide tables, without copying them and in natural order.

A copy of every column costs more memory than the run is worth. In the natural order of tasks, in which every table of a
run is, `task10` comes after `task9`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl
from msgspec import Struct

AT_ONCE = 8
"""Columns that are copied together, on as many cores as there are."""


class Stretches(Struct, frozen=True, kw_only=True):
    """Rows that stand together, told apart without grouping them, which takes ten times as long."""

    begins: pl.Series
    """For each row, whether it is the first of its stretch."""
    firsts: pl.Series
    """The places of these."""

    @classmethod
    def of(cls, rows: pl.DataFrame, *by: str) -> Stretches:
        """The stretches of rows that say the same in every column of `by`, none of which has a null."""
        begins = rows.select(pl.any_horizontal(map(_changes, by))).to_series()
        return cls(begins=begins, firsts=begins.arg_true())

    def first(self, column: pl.Series) -> pl.Series:
        """The column's value in the first row of each."""
        return column.gather(self.firsts)

    def differing(self, rows: pl.DataFrame) -> list[str]:
        """The columns that do not say one thing, or nothing, in all rows of each."""
        differ = rows.select((_changes(name) & ~self.begins).any() for name in rows.columns)
        return [name for name in rows.columns if differ[name].item()]

    def numbers(self) -> pl.Series:
        """The number of each row's stretch."""
        return self.begins.cum_sum().alias("number")

    def sizes(self) -> pl.Series:
        """How many rows each has."""
        places = self.firsts.cast(pl.Int64)
        return places.shift(-1, fill_value=len(self.begins)) - places

    def times(self, so: pl.DataFrame) -> pl.DataFrame:
        """How many rows of each are so, column by column."""
        upto = so.select(pl.all().fill_null(False).cum_sum().cast(pl.Int64))
        lasts = self.firsts.shift(-1, fill_value=so.height) - 1
        return upto[lasts].select(pl.all() - pl.all().shift(1, fill_value=0))


def _changes(name: str) -> pl.Expr:
    """Whether a row does not say in the column what the row before it says."""
    return pl.col(name).ne_missing(pl.col(name).shift(1))


def looked_up(rows: pl.DataFrame, names: pl.DataFrame, *on: str) -> pl.DataFrame:
    """The other columns of `names` for each of the rows; a join of the whole table would copy every column of it."""
    if rows.select(on).equals(names.select(on)):
        return names.drop(on)
    return rows.select(on).join(names, on=on, how="left", nulls_equal=True, maintain_order="left").drop(on)


def kept(rows: pl.DataFrame, which: pl.Expr) -> pl.DataFrame:
    """The rows that are so; the same table, not a copy, where all are."""
    chosen = rows.select(which.fill_null(False)).to_series()
    return rows if chosen.all() else rows.filter(chosen)


def in_one_piece(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with each column in one piece, and held as one value where it says the same in every row.

    A column that is added to a table in pieces makes polars copy all the others into its shape. `rows` are emptied on
    the way, so that no more than a few columns are held twice.
    """
    names = rows.columns
    # One column says how many rows there are.
    constants = {name: pl.lit(rows[name][0], rows[name].dtype) for name in names[:-1] if is_constant(rows[name])}
    for name in constants:
        rows.drop_in_place(name)
    whole = [few.rechunk() for few in _taken_out(rows)]
    return pl.concat(whole, how="horizontal").with_columns(**constants).select(names)


def reordered(rows: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """The rows at the places, each column in one piece; where a place is null, so is the row.

    `rows` are emptied on the way, so that no more than a few columns are held twice.
    """
    # Out of several pieces a list is taken twenty times as slowly as out of one.
    taken = [few.rechunk()[places] for few in _taken_out(rows)]
    return pl.concat(taken, how="horizontal")


def _taken_out(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The columns, a few at a time; what was taken out is no longer in `rows`."""
    while rows.width:
        few = rows.select(rows.columns[:AT_ONCE])
        for name in few.columns:
            rows.drop_in_place(name)
        yield few


def is_constant(column: pl.Series) -> bool:
    """Whether the column says the same in every row; lists are not looked into."""
    if column.null_count():
        return column.null_count() == len(column)
    if column.dtype.is_nested() or len(column) == 0:
        return False
    return bool(column[0] == column[-1]) and bool((column == column[0]).all())


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
