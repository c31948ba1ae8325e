"""Dates, times and numbers in words: the same value in two spellings, and what is no value at all."""

from __future__ import annotations

import pytest

from blade.evidence.answer_forms import AnswerMatch, as_moment, as_number
from blade.evidence.answers import compare_answer

SAME = [
    ("29 March 1867", "1867-03-29"),
    ("March 29, 1867", "1867-03-29"),
    ("the 3rd of May 2001", "May 3, 2001"),
    ("7:30 PM", "19:30"),
    ("7.30 p.m.", "19:30"),
    ("12 am", "00:00"),
    ("twelve", "12"),
    ("forty two", "42"),
    ("Twenty-one", "21"),
]
OTHER = [
    ("28 March 1867", "1867-03-29"),
    ("7:30 AM", "19:30"),
    ("eleven", "12"),
]
NEITHER = ["03/04/1867", "31 February 2001", "25:00", "12.30", "May", "a dozen", "", "1867", "Blarch 3, 2001", "13:75"]


@pytest.mark.parametrize(("said", "wanted"), SAME)
def test_another_spelling_is_the_same_value(said: str, wanted: str) -> None:
    assert compare_answer(said, wanted, "") is AnswerMatch.OTHER_FORM
    assert compare_answer(wanted, said, "") is AnswerMatch.OTHER_FORM


@pytest.mark.parametrize(("said", "wanted"), OTHER)
def test_another_value_is_different(said: str, wanted: str) -> None:
    assert compare_answer(said, wanted, "") is AnswerMatch.DIFFERENT


@pytest.mark.parametrize("text", NEITHER)
def test_what_may_be_two_things_is_none(text: str) -> None:
    assert as_number(text) is None
    found = as_moment(text)
    assert found is None or text == "12.30"


def test_numbers_with_a_dot_stay_numbers() -> None:
    assert compare_answer("12.30", "12.3", "") is AnswerMatch.OTHER_FORM
    assert compare_answer("12.30", "12:30", "") is not AnswerMatch.EQUAL
