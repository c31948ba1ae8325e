"""More tests for a function: its own tests are read, new inputs stay like the known ones, and a fitted program fails."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from benchmarks.evalplus.more_tests import KnownTests, more_tests, read_tests
from benchmarks.evalplus.new_inputs import draw_inputs, has_all, properties
from hypothesis import given, settings
from hypothesis import strategies as st

from blade_gym.verifiers import unit_tests

SECOND = "def second(xs):\n    return sorted(xs)[-2]\n"
SECOND_TESTS = """
METADATA = {"author": "x"}

def check(candidate):
    assert candidate([1, 2, 3]) == 2, "the middle"
    assert candidate([3, 1, 2]) == 2
    assert candidate([5, 4, 9, 1]) == 5
    assert candidate([7, 7, 2, 5, 3, 1]) == 7
    assert True
"""
FITTED = "def second(xs):\n    return {3: 2, 4: 5, 6: 7}[len(xs)]\n"


def check(*lines: str) -> str:
    return "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)


def test_calls_are_read_from_asserts() -> None:
    found = read_tests(
        check("assert candidate(1, 'a') == [2]", "assert candidate(1, 'a') == [2]", "assert candidate()")
    )
    assert found == KnownTests(inputs=((1, "a"), ()))
    assert read_tests(check("assert not candidate([-1])", "assert candidate(None) is True")) == KnownTests(
        inputs=(([-1],), (None,))
    )
    assert read_tests(check("assert abs(candidate(1.5) - 2.25) < 1e-6")) == KnownTests(inputs=((1.5,),), close=True)


@pytest.mark.parametrize(
    "line",
    [
        "for x in range(3): assert candidate(x) == x",
        "assert candidate(x) == 1",
        "assert candidate(x=1) == 1",
        "assert candidate(1) == candidate(2)",
        "assert candidate(1) == other(1)",
        "assert candidate(1) > 3",
        "assert sorted(candidate(1)) == [1]",
        "assert candidate(1) == 1 and candidate(2) == 2",
        "candidate(1)",
        "assert True",
    ],
)
def test_tests_in_another_form_are_left_alone(line: str) -> None:
    assert read_tests(check(line)) is None
    assert read_tests("def check(") is None
    assert more_tests("def f(x): return x", "f", check(line), most=5, seed="1") == []


def test_a_program_that_only_fits_the_tests_fails_more() -> None:
    more = more_tests(SECOND, "second", SECOND_TESTS, most=20, seed="1")
    assert len(more) == 20
    row = {"entry_point": "second", "prompt": "def second(xs):\n", "test": SECOND_TESTS, "test_list": more}
    right = unit_tests.verify(row, f"```python\n{SECOND}```", {})
    fitted = unit_tests.verify(row, f"```python\n{FITTED}```", {})
    assert (right.reward, right.fields["tests_total"]) == (1.0, 21)
    assert (fitted.reward, fitted.fields["test_results"][0]["passed"]) == (0.0, True), "the test of the task passes"
    assert fitted.fields["tests_passed"] < 21


def test_the_seed_decides() -> None:
    first = more_tests(SECOND, "second", SECOND_TESTS, most=10, seed="1")
    assert more_tests(SECOND, "second", SECOND_TESTS, most=10, seed="1") == first
    assert more_tests(SECOND, "second", SECOND_TESTS, most=10, seed="2") != first


def test_what_all_inputs_share_is_kept() -> None:
    known = [([1, 2, 5], 2), ([3, 4, 8, 9], 3), ([0, 7], 0)]
    made = list(draw_inputs(known, "1"))
    assert len(made) > 20
    for numbers, place in made:
        assert numbers == sorted(set(numbers))
        assert len(numbers) in (2, 3, 4)
        assert 0 <= min(numbers) <= max(numbers) <= 9
        assert place < len(numbers)


def test_lengths_that_belong_together_stay_together() -> None:
    known = [(["+", "*"], [1, 2, 3]), (["-"], [4, 5]), (["*", "-", "+"], [1, 1, 2, 9])]
    assert all(len(signs) + 1 == len(numbers) for signs, numbers in draw_inputs(known, "1"))


def test_texts_with_a_form_of_their_own_are_not_made_up() -> None:
    known = [("03-11-2000", 1), ("15-01-2012", 2), ("06-06-2005", 3)]
    assert {text for text, _ in draw_inputs(known, "1")} <= {"03-11-2000", "15-01-2012", "06-06-2005"}


SLOW = "def f(n):\n    while n > 6:\n        pass\n    return n\n"
RAISES = "def f(n):\n    if n > 6:\n        raise ValueError(n)\n    return n\n"
ODD = "def f(n):\n    return {n, 'a', 'b'} if n > 6 else n\n"
NUMBERS = check("assert candidate(2) == 2", "assert candidate(5) == 5", "assert candidate(10) == 10")


@pytest.mark.parametrize("program", [SLOW, RAISES, ODD])
def test_inputs_without_a_plain_result_are_no_tests(program: str) -> None:
    made = more_tests(program, "f", NUMBERS, most=20, seed="1")
    assert made
    assert set(made) <= {f"assert f({n}) == {n}" for n in (3, 4, 6)}


def test_fractions_are_compared_closely_and_only_as_a_number() -> None:
    halves = check(*(f"assert candidate({n}) == {n / 3!r}" for n in (1, 5, 9)))
    (first, *_) = more_tests("def f(n): return n / 3", "f", halves, most=3, seed="1")
    assert ast.unparse(ast.parse(first)).startswith("assert abs(f(")
    lists = check(*(f"assert candidate({n}) == [{n / 3!r}]" for n in (1, 5, 9)))
    assert more_tests("def f(n): return [n / 3]", "f", lists, most=3, seed="1") == []


VALUES = st.one_of(
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.text(max_size=4),
    st.floats(allow_nan=False, width=16),
    st.lists(st.integers(-3, 3), max_size=4),
    st.lists(st.lists(st.text(max_size=2), max_size=2), max_size=2),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4), st.integers(0, 3))
def test_any_inputs_have_what_they_share_and_so_do_new_ones(known: list[tuple[Any, Any]], seed: int) -> None:
    shared = properties(known)
    assert all(has_all(shared, one) for one in known)
    made = list(draw_inputs(known, str(seed)))
    assert all(has_all(shared, one) for one in made)
    assert {repr(one) for one in made}.isdisjoint({repr(one) for one in known})
