"""A column of cells gives what its cells give one by one, whatever they hold."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blade.ingest import cells

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 1 << 64),
    st.floats(),
    st.sampled_from([1e16, -1e16, 3.0, 1 << 30, (1 << 30) - 1, 1 << 62]),
    st.sampled_from(["", " ", "a", "12", "3.0"]),
    st.lists(st.integers(0, 3), max_size=2),
    st.just({"name": "n"}),
)
ALIKE = st.one_of(st.lists(st.integers(-1, 5)), st.lists(st.floats()), st.lists(st.sampled_from(["a", " ", ""])))
PAIRS = (
    (cells.integers, cells.integer),
    (cells.counts, cells.count),
    (cells.averages, cells.average),
    (cells.numbers, cells.number),
    (cells.texts, cells.text),
    (cells.names, cells.name_text),
)


@pytest.mark.parametrize(("whole", "alone"), PAIRS, ids=lambda function: function.__name__)
@given(values=st.lists(VALUES) | ALIKE)
@example(values=[1.0, float("nan")])
def test_a_column_gives_what_its_cells_give(
    whole: Callable[[Sequence[Any]], Sequence[Any]], alone: Callable[[Any], Any], values: list[Any]
) -> None:
    assert repr(list(whole(values))) == repr([None if value is None else alone(value) for value in values])


@given(st.lists(st.none() | st.text(max_size=6)), st.integers(1, 4))
def test_texts_are_cut(values: list[str | None], most: int) -> None:
    assert cells.cut(values, most) == [None if text is None else text[:most] for text in values]


def test_a_column_that_needs_no_change_is_not_copied() -> None:
    numbers, words = [1, 2, 3], ["a", "b"]
    assert cells.integers(numbers) is cells.counts(numbers) is numbers
    assert cells.texts(words) is cells.names(words) is cells.as_texts(words) is cells.cut(words, 9) is words
