"""Work on wide tables without copying them: a copy of every column costs more memory than the run is worth."""

from __future__ import annotations

import polars as pl


def looked_up(rows: pl.DataFrame, names: pl.DataFrame, *on: str) -> pl.DataFrame:
    """The other columns of `names` for each of the rows; a join of the whole table would copy every column of it."""
    return rows.select(on).join(names, on=on, how="left", nulls_equal=True, maintain_order="left").drop(on)


def kept(rows: pl.DataFrame, which: pl.Expr) -> pl.DataFrame:
    """The rows that are so; the same table, not a copy, where all are."""
    chosen = rows.select(which.fill_null(False)).to_series()
    return rows if chosen.all() else rows.filter(chosen)


def in_one_piece(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with each column in one piece, and held as one value where it says the same in every row.

    A column that is added to a table in pieces makes polars copy all the others into its shape. `rows` are emptied on
    the way, so that no more than one column is held twice.
    """
    names, columns = rows.columns, {}
    constants = {}
    for name in names:
        column = rows.drop_in_place(name).rechunk()
        # One column says how many rows there are.
        if name != names[-1] and _is_constant(column):
            constants[name] = pl.lit(column[0], dtype=column.dtype)
        else:
            columns[name] = column
    return pl.DataFrame(columns).with_columns(**constants).select(names)


def reordered(rows: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """The rows at the places; `rows` are emptied on the way, so that no more than one column is held twice."""
    columns = []
    for name in rows.columns:
        column = rows.select(name)
        # Out of several pieces a list is taken twenty times as slowly as out of one.
        columns.append((column if column.n_chunks() == 1 else column.rechunk())[places])
        rows.drop_in_place(name)
    return pl.concat(columns, how="horizontal")


def _is_constant(column: pl.Series) -> bool:
    if column.null_count():
        return column.null_count() == len(column)
    if column.dtype.is_nested() or len(column) == 0:
        return False
    return bool(column[0] == column[-1]) and bool((column == column[0]).all())
