"""Written arithmetic against Python's own, and equations that are true, false or none."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.evidence.arithmetic import LONGEST, value_of
from blade.evidence.equations import first_false

NUMBERS = st.integers(-99, 99).map(str) | st.decimals(0, 99, places=2).map(str)


def _binary(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from([" + ", " - ", "*", " / ", "-"])
    return (
        st.tuples(inner, signs, inner).map("".join)
        | inner.map(lambda text: f"({text})")
        | inner.map(lambda text: f"-({text})")
    )


EXPRESSIONS = st.recursive(NUMBERS, _binary, max_leaves=12)


def exactly(expression: str) -> Fraction | None:
    """The same value by Python's own grammar."""
    found, number = "", ""
    for letter in f"{expression} ":
        if letter.isdigit() or letter == ".":
            number += letter
        else:
            found += (f"Fraction('{number}')" if number else "") + letter
            number = ""
    try:
        value: Fraction = eval(found, {"Fraction": Fraction})
    except ZeroDivisionError:
        return None
    return value


@given(EXPRESSIONS)
def test_it_agrees_with_python(expression: str) -> None:
    if len(expression) <= LONGEST:
        assert value_of(expression) == exactly(expression)


@given(st.text(alphabet="0123456789.,+-*/^() x", max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    assert value_of(text) is None or isinstance(value_of(text), Fraction)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^2", -4),
        ("2^3^2", 512),
        ("3(4)", 12),
        ("(1)(2)", 2),
        ("1,000/8", 125),
        ("5 + -9", -4),
        ("--3", 3),
        (".5*4", 2),
    ],
)
def test_the_usual_order_of_operations(text: str, value: int) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text", ["", "2 3", "1/0", "()", ")(", "(1", "9^999", "2^0.5", "1..2", "x", "12,34", "9" * 500]
)
def test_what_is_no_arithmetic_has_no_value(text: str) -> None:
    assert value_of(text) is None


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("So 3 + 4 = 8.", "3 + 4", "8"),
        ("A = (7 - -7 * 4) = (7 - 28) = -21", "(7 - -7 * 4)", "(7 - 28)"),
        ("We add: 12 \u00d7 3 = 35, which is all.", "12 * 3", "35"),
        ("**2 * 3 = 7**", "2 * 3", "7"),
        ("First 2 + 2 = 4.\nThen 4 + 4 = 9 (left: 9)", "4 + 4", "9"),
        ("Total is $5 * 3 = $16.", "5 * 3", "16"),
        ("A + B = 20 - 32 + 304 = 293. So the answer is 293", "20 - 32 + 304", "293"),
    ],
)
def test_a_false_equation_is_found_with_its_line(text: str, left: str, right: str) -> None:
    found = first_false(text)
    assert found is not None
    assert (found.left.strip(), found.right.strip()) == (left, right)
    assert found.line in text.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "3 + 4 = 7",
        "1 / 3 = 0.33",
        "2 / 3 = 0.67",
        "Is 3 + 4 = 8?",
        "3 + 4 = 8 would be wrong",
        "If 3 + 4 = 8, then",
        "7 / 2 = 3 remainder 1",
        "90 * 2 = 3 hours",
        "log 100 = 2",
        "the sum of 3 and 4 = 7",
        "2x + 3 = 7",
        "x - 3 + 4 = 9",
        "f(3) = 5",
        "5! = 120",
        "10^2 - 1 == 98",
        "3 + 4 >= 8",
        "1010 + 1 = 1011 in base 2",
        "10 + 5 = 3 mod 12",
        "```\nx = 3 + 4 = 8\n```",
        "3 + 4 \u2248 8",
        "\\frac{1}{2} + 3 = 7/2",
        "version 1.2.3 = 4",
        "50% = 0.5",
        "17 = seventeen",
    ],
)
def test_what_is_true_or_not_stated_is_passed_over(text: str) -> None:
    assert first_false(text) is None


@given(EXPRESSIONS)
def test_a_true_equation_is_never_false(expression: str) -> None:
    value = exactly(expression)
    if value is not None and len(expression) <= LONGEST:
        written = str(value) if value.denominator == 1 else f"{value.numerator} / {value.denominator}"
        assert first_false(f"So {expression} = {written}.") is None


def test_time_grows_with_the_text_and_not_faster() -> None:
    started = time.process_time()
    for hostile in (
        "1+" * 50_000 + "=",
        "(" * 90_000 + "1=2",
        "1 = " * 25_000,
        "0 " * 40_000 + "= 1",
        ". " * 40_000 + "1=2",
    ):
        first_false(hostile)
        first_false("\n".join(hostile[n : n + 1_900] for n in range(0, len(hostile), 1_900)))
    assert time.process_time() - started < 5
