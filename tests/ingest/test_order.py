"""Tasks stand in natural order in every table, whatever their ids look like."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.frames import in_natural_order, natural, natural_sorted

PRINTABLE = st.text(st.sampled_from("0019ab-_ .~"), min_size=1, max_size=6)
IDS = PRINTABLE | st.text(st.sampled_from("01a-٣é\x00\x01\x02"), min_size=1, max_size=6)
NUMBERS = st.integers(0, 12).map(str) | st.sampled_from(["2147483648", "2147483649", "99999999999", "9" * 18])
REPEATS = st.none() | st.integers(0, 3) | st.just(2**31 - 1)


def table(rows: list[tuple[str, int | None]]) -> pl.DataFrame:
    schema = {"task_id": pl.String, "repeat": pl.Int32}
    return pl.DataFrame(rows, schema=schema, orient="row").with_row_index("line")


def in_order(rows: list[tuple[str, int | None]]) -> list[tuple[int, str, int | None]]:
    numbered = [(line, task, repeat) for line, (task, repeat) in enumerate(rows)]
    return sorted(numbered, key=lambda row: (natural(row[1]), -1 if row[2] is None else row[2]))


@given(st.lists(PRINTABLE, unique=True, max_size=8) | st.lists(IDS, unique=True, max_size=8))
def test_names_of_any_kind_are_in_natural_order(names: list[str]) -> None:
    assert natural_sorted(pl.Series("task_id", names, pl.String)).to_list() == sorted(names, key=natural)


@pytest.mark.parametrize(
    "names",
    [
        ["task-2", "task-10", "task-010", "task-1"],
        ["a1b", "a1", "a", "a10", "a2b3", "a2b10", "1a", "", "ab"],
        ["9" * 18 + "x", "1" + "0" * 18 + "x", "2x", "0x", "00x"],
        ["x٣", "x2", "x10"],
        ["-1", "+1", "1", "01"],
    ],
)
def test_names_of_these_kinds_are(names: list[str]) -> None:
    assert natural_sorted(pl.Series("task_id", names)).to_list() == sorted(names, key=natural)


@given(st.lists(st.tuples(IDS, REPEATS), max_size=10) | st.lists(st.tuples(NUMBERS, REPEATS), max_size=10))
def test_rows_are_in_order_of_task_and_repeat_and_stay_as_they_were_where_these_tie(
    rows: list[tuple[str, int | None]],
) -> None:
    assert in_natural_order(table(rows)).rows() == in_order(rows)


@given(st.lists(st.tuples(IDS, REPEATS), min_size=1, max_size=6), st.lists(st.tuples(IDS, REPEATS), max_size=3))
def test_what_is_known_of_the_order_changes_nothing(
    rows: list[tuple[str, int | None]], more: list[tuple[str, int | None]]
) -> None:
    known = natural_sorted(pl.Series("task_id", [task for task, _ in rows]).unique())
    assert in_natural_order(table([*rows, *more]), known).rows() == in_order([*rows, *more])


def test_rows_that_are_in_order_are_not_copied() -> None:
    rows = table([("9", None), ("9", 0), ("10", 0)])
    assert in_natural_order(rows) is rows
