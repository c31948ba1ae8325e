"""Wide tables are put in one piece and in order without changing what they say."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.frames import in_one_piece, reordered

VALUES = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.sampled_from([1, 2, None]),
    st.sampled_from([["x"], ["x", "y"], None]),
    st.just("same"),
    st.none(),
)
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "text": pl.String,
    "number": pl.Int32,
    "several": pl.List(pl.String),
    "same": pl.String,
    "none": pl.Float64,
}


def table(rows: list[tuple[object, ...]]) -> pl.DataFrame:
    """The rows, each in a piece of its own."""
    pieces = [pl.DataFrame([row], schema=SCHEMA, orient="row") for row in rows]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *pieces], rechunk=False)


@given(st.lists(VALUES, max_size=6))
def test_a_table_in_pieces_says_the_same_in_one(rows: list[tuple[object, ...]]) -> None:
    whole = in_one_piece(table(rows))
    assert whole.equals(table(rows))
    assert whole.schema == table(rows).schema


def test_a_column_that_says_the_same_in_every_row_takes_no_room() -> None:
    rows: list[tuple[object, ...]] = [("a", 1, None, "same", None)] * 1_000
    frame = table(rows).with_row_index("place")
    names = frame.columns
    assert in_one_piece(frame.select(*names[1:], "place")).estimated_size() < 8_000


@given(st.lists(VALUES, min_size=1, max_size=6), st.data())
def test_rows_are_put_in_order(rows: list[tuple[object, ...]], data: st.DataObject) -> None:
    places = data.draw(st.permutations(range(len(rows))))
    assert reordered(table(rows), pl.Series(places, dtype=pl.UInt32)).rows() == [rows[place] for place in places]
