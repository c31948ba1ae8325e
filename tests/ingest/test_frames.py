"""Wide tables are put in one piece and in order without changing what they say."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.frames import AT_ONCE, Stretches, in_one_piece, looked_up, reordered

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


@given(st.lists(VALUES, max_size=4), st.data())
def test_a_place_that_is_null_gives_a_row_of_nulls(rows: list[tuple[object, ...]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.none() | st.sampled_from(range(len(rows))) if rows else st.none(), max_size=6))
    nothing = (None,) * len(SCHEMA)
    expected = [nothing if place is None else rows[place] for place in places]
    assert reordered(table(rows), pl.Series(places, dtype=pl.UInt32)).rows() == expected


def test_more_columns_than_are_copied_together_keep_their_order() -> None:
    names = [f"c{n}" for n in range(2 * AT_ONCE + 1)]
    frame = pl.DataFrame({name: [n, n + 1] for n, name in enumerate(names)})
    assert in_one_piece(pl.concat([frame, frame])).rows() == frame.rows() * 2
    turned = reordered(frame.clone(), pl.Series([1, 0], dtype=pl.UInt32))
    assert (turned.columns, turned.rows()) == (names, frame.rows()[::-1])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([1, 2, None])), max_size=8))
def test_stretches_say_what_groups_say(rows: list[tuple[str, int | None]]) -> None:
    frame = pl.DataFrame(
        sorted(rows, key=lambda row: row[0]), schema={"task_id": pl.String, "n": pl.Int64}, orient="row"
    )
    stretches, grouped = Stretches.of(frame, "task_id"), frame.group_by("task_id", maintain_order=True)
    once = pl.col("n").n_unique() == 1
    expected = grouped.agg(first=pl.col("n").first(), size=pl.len(), twos=(pl.col("n") == 2).sum(), once=once)
    assert stretches.first(frame["task_id"]).to_list() == expected["task_id"].to_list()
    assert stretches.first(frame["n"]).to_list() == expected["first"].to_list()
    assert stretches.sizes().to_list() == expected["size"].to_list()
    assert stretches.times(frame.select(twos=pl.col("n") == 2))["twos"].to_list() == expected["twos"].to_list()
    assert stretches.differing(frame) == ([] if expected["once"].all() else ["n"])
    assert frame.group_by(stretches.numbers()).len().sort("number")["len"].to_list() == expected["size"].to_list()


def test_stretches_by_two_columns_end_where_either_changes() -> None:
    frame = pl.DataFrame({"task_id": ["a", "a", "b", "b"], "repeat": [0, 1, 1, 1]})
    assert Stretches.of(frame, "task_id", "repeat").begins.to_list() == [True, True, True, False]


def test_what_is_looked_up_stands_beside_its_row() -> None:
    names = pl.DataFrame({"task_id": ["b", "a"], "n": [2, 1]})
    for wanted, expected in ((["b", "a"], [2, 1]), (["a", "b"], [1, 2]), (["a", None, "c", "a"], [1, None, None, 1])):
        rows = pl.DataFrame({"task_id": wanted}, schema={"task_id": pl.String})
        assert looked_up(rows, names, "task_id")["n"].to_list() == expected
