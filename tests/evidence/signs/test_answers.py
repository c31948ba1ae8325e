"""In which way an answer differs from its key, and what a rollout shows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.evidence.answer_kinds import Kind, kind_of
from blade.evidence.signs.answers import answer_signs
from blade.model.finding import Sign
from builders import Row, call, load_rows, result, rollout, said
from evidence import stands_in

WORDS = "acrid broglie bunsen burlesque data frilly"


@pytest.mark.parametrize(
    ("got", "wanted", "kind"),
    [
        ("42", "42", Kind.EXACT),
        ("Paris ", "paris", Kind.CASE_OR_SPACE),
        ("( ( ) )", "(())", Kind.CASE_OR_SPACE),
        ("0.5", "1/2", Kind.OTHER_FORM),
        ("1,000", "1000", Kind.OTHER_FORM),
        ("12", "-12", Kind.SIGN),
        ("5 m", "5 km", Kind.UNIT),
        ("12000", "12", Kind.FACTOR),
        ("0.12", "12", Kind.FACTOR),
        ("11", "12", Kind.OFF_BY_ONE),
        ("0", "1", Kind.DIFFERENT),
        ("17", "12", Kind.DIFFERENT),
        ("[2, 1, 3]", "[1, 2, 3]", Kind.REORDERED),
        ("acrid bunsen broglie burlesque data frilly", WORDS, Kind.REORDERED),
        ("acrid broglie bunsen burlesque data", WORDS, Kind.OFF_BY_ONE_ITEM),
        ("] } )", "] ) ) ]", Kind.DIFFERENT),
        ("] ) }", "] ) ]", Kind.OFF_BY_ONE_ITEM),
        ("acrid, broglie, bunsen, burlesque, data, frilly", WORDS, Kind.FORMAT),
        ("a, b, c, d, e", "a, b, c", Kind.SUPERSET),
        ("[1]", "[1, 2, 3]", Kind.SUBSET),
        ("42", "unanswerable", Kind.UNANSWERABLE),
        ("cannot be determined", "Unknown", Kind.UNKNOWN),
        ("I", "H", Kind.DIFFERENT),
        ("The capital is Paris", "Paris", Kind.CONTAINED),
    ],
)
def test_the_kind_of_difference(got: str, wanted: str, kind: Kind) -> None:
    assert kind_of(got, wanted) is kind


@given(st.text(max_size=300))
def test_a_text_is_exactly_itself(text: str) -> None:
    assert kind_of(text, text) is Kind.EXACT


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_have_a_kind_and_only_equal_ones_are_exact(one: str, other: str) -> None:
    assert (kind_of(one, other) is Kind.EXACT) is (one.strip() == other.strip())


@given(st.integers(2, 10**9), st.integers(1, 9))
def test_numbers_off_by_a_sign_or_a_power_of_ten(number: int, power: int) -> None:
    assert kind_of(str(-number), str(number)) is Kind.SIGN
    assert kind_of(str(number * 10**power), str(number)) is Kind.FACTOR
    assert kind_of(f"{number:,}", str(number)) in (Kind.OTHER_FORM, Kind.EXACT)


@given(st.lists(st.from_regex(r"\A[a-z]{3,8}\Z"), min_size=6, max_size=30, unique=True), st.randoms())
def test_a_list_in_another_order(words: list[str], chance: Any) -> None:
    mixed = list(words)
    chance.shuffle(mixed)
    expected = Kind.EXACT if mixed == words else Kind.REORDERED
    assert kind_of(" ".join(mixed), " ".join(words)) is expected
    assert kind_of(" ".join(words[:-1]), " ".join(words)) is Kind.OFF_BY_ONE_ITEM


def signs(folder: Path, *, passed: bool = False, output: object = None, **fields: Any) -> list[Sign]:
    """The signs of the one rollout; every quote stands where it says."""
    row = rollout("t", repeat=0, passed=passed, output=output, **fields)
    found = list(answer_signs(load_rows(folder, row)["t", 0]))
    for sign in found:
        assert not sign.quote or stands_in({"step": sign.step, "field": sign.field, "quote": sign.quote}, row), sign
    return found


def test_a_wrong_answer_is_quoted_where_it_stands(tmp_path: Path) -> None:
    (sign,) = signs(tmp_path, output="So it is 12.", expected_answer="-12", extracted_answer="12")
    assert (sign.kind, sign.subject, sign.quote, sign.field, sign.step) == ("answer:sign", "12|-12", "12", "text", 0)
    (sign,) = signs(tmp_path, output="A dozen.", expected_answer="-12", extracted_answer="12")
    assert (sign.field, sign.step) == ("extracted_answer", None)


def test_of_two_long_answers_the_part_is_shown_in_which_they_differ(tmp_path: Path) -> None:
    same = "aerobacter ave commensurable fair finish haggle hilt"
    got, key = f"{same} improvise laughlin", f"{same} improvisate laughlin"
    (sign,) = signs(tmp_path, output=got, expected_answer=key, extracted_answer=got)
    assert sign.subject == "...hilt improvise laughlin|...hilt improvisate laughlin"


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        ({"output": "The answer is 12.", "extracted_answer": ""}, ["answer:format", "answer:plainly-stated"]),
        ({"output": "I do not know.", "extracted_answer": None}, ["answer:empty"]),
        ({"output": [said("")]}, ["answer:empty"]),
        ({"output": [call("submit", '{"answer": 3}'), result("ok")]}, []),
        ({"output": r"\boxed{3} or \boxed{12}", "extracted_answer": "3"}, ["answer:several", "answer:different"]),
        ({"output": "12", "extracted_answer": "12"}, ["answer:equal-but-rejected"]),
        ({"output": "12.0", "extracted_answer": "12.0"}, ["answer:equal-but-rejected"]),
    ],
    ids=["stated, not extracted", "nothing", "blank", "handed in by a call", "several", "equal", "equal value"],
)
def test_kinds_that_are_no_comparison(tmp_path: Path, fields: Row, kinds: list[str]) -> None:
    assert [sign.kind for sign in signs(tmp_path, expected_answer="12", **fields)] == kinds


def test_an_answer_that_a_limit_cut_is_truncated(tmp_path: Path) -> None:
    found = signs(tmp_path, output="First, we", expected_answer="12", extracted_answer="", stop_reason="max_tokens")
    assert [(sign.kind, sign.subject) for sign in found] == [("answer:truncated", "max_tokens"), ("answer:empty", "")]


def test_a_long_answer_in_prose_is_not_compared(tmp_path: Path) -> None:
    prose = "The response must say that the harbor was dredged twice, and why the council refused to pay for it. " * 4
    assert signs(tmp_path, output="Because the sea was shallow. " * 20, expected_answer=prose) == []


def test_passes_say_how_exact_they_are(tmp_path: Path) -> None:
    exact = signs(tmp_path, passed=True, output="12", expected_answer="12", extracted_answer="12")
    loose = signs(tmp_path, passed=True, output="x", expected_answer="Paris", extracted_answer="paris")
    assert [(sign.kind, sign.subject) for sign in (*exact, *loose)] == [
        ("answer:exact", ""),
        ("answer:loose", "case-or-space"),
    ]


def test_the_first_false_equation_is_quoted_at_its_step(tmp_path: Path) -> None:
    work = [said("2 + 2 = 4"), said("Then 4 + 4 = 9.\nThen 9 + 1 = 11."), said("So 11")]
    for passed in (False, True):
        found = signs(tmp_path, passed=passed, output=work)
        assert [(s.kind, s.subject, s.quote, s.step) for s in found] == [
            ("work:false-equation", "4 + 4 = 9", "Then 4 + 4 = 9.", 1)
        ]


def test_work_with_tools_is_no_worked_solution(tmp_path: Path) -> None:
    assert signs(tmp_path, output=[call("run", "{}"), result("3 + 4 = 8"), said("3 + 4 = 8")]) == []


def test_a_key_of_calls_is_no_answer(tmp_path: Path) -> None:
    key = [{"name": "cancel", "arguments": {}}]
    assert signs(tmp_path, output="12", expected_actions=key, expected_answer="12") == []


@given(st.integers(0, 10**15), st.integers(0, 10**15) | st.integers(0, 30), st.integers(0, 14))
def test_whole_numbers_compare_as_the_same_numbers_with_decimals(one: int, other: int, zeros: int) -> None:
    for got, wanted in ((one, other), (other, one), (one, one + 1), (other, other * 10**zeros)):
        if got != wanted:
            assert kind_of(str(got), str(wanted)) == kind_of(f"{got}.0", str(wanted)), (got, wanted)
