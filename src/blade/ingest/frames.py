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
