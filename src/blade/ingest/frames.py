"""Work on wide tables without copying them: a copy of every column costs more memory than the run is worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

AT_ONCE = 8
"""Columns that are copied together, on as many cores as there are."""


class Stretches(NamedTuple):
    """Rows that stand together, told apart without grouping them, which takes ten times as long."""

    begins: pl.Series
    """For each row, whether it is the first of its stretch."""
    firsts: pl.Series
    """The places of these."""

    @classmethod
    def of(cls, rows: pl.DataFrame, *by: str) -> Stretches:
        """The stretches of rows that say the same in every column of `by`, none of which has a null."""
        begins = rows.select(pl.any_horizontal(map(_changes, by))).to_series()
        return cls(begins, begins.arg_true())

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
