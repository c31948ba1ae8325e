"""pass@k and pass^k against counting, math.comb and published runs."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.stats.pass_at_k import pass_at_k, pass_hat_k

TAU_AIRLINE_GPT_4O = [0] * 14 + [1] * 12 + [2] * 10 + [3] * 4 + [4] * 10
"""Passes of 4 in each of the 50 tasks of the published tau-bench airline trajectories of gpt-4o."""
GAME_OF_24_TOT = [0] * 31 + [1] * 37 + [2] * 19 + [3] * 10 + [4] * 1 + [5] * 2
"""Correct of 5 in each of the 100 puzzles of the published tree-of-thought logs."""


def counts() -> st.SearchStrategy[tuple[int, int, int]]:
    """Judged, passed and k with passed <= judged and k <= judged."""
    return st.integers(1, 60).flatmap(lambda j: st.tuples(st.just(j), st.integers(0, j), st.integers(1, j)))


@pytest.mark.parametrize(("k", "published"), [(1, 0.420), (2, 0.273), (3, 0.220), (4, 0.200)])
def test_published_tau_bench_airline(k: int, published: float) -> None:
    found = pass_hat_k([4] * 50, TAU_AIRLINE_GPT_4O, k)
    assert found.mean == pytest.approx(published, abs=5e-4)
    assert found.n == 50


def test_published_game_of_24() -> None:
    assert pass_at_k([5] * 100, GAME_OF_24_TOT, 1).mean == pytest.approx(0.2380)
    assert pass_at_k([5] * 100, GAME_OF_24_TOT, 5).mean == pytest.approx(0.69)


def test_by_hand() -> None:
    # 2 of 5 passed: of 10 pairs, 3 hold no pass and 1 holds two.
    assert pass_at_k([5], [2], 2).values.tolist() == pytest.approx([0.7])
    assert pass_hat_k([5], [2], 2).values.tolist() == pytest.approx([0.1])


def test_drawing_every_pair_and_triple() -> None:
    rollouts = [True] * 3 + [False] * 4
    for k in (1, 2, 3, 5):
        draws = list(combinations(rollouts, k))
        assert pass_at_k([7], [3], k).mean == pytest.approx(np.mean([any(d) for d in draws]))
        assert pass_hat_k([7], [3], k).mean == pytest.approx(np.mean([all(d) for d in draws]))


def test_tasks_with_too_few_rollouts_are_left_out_and_named() -> None:
    found = pass_at_k([4, 1, 0, 3], [0, 1, 0, 3], 3)
    assert found.values.tolist() == [0.0, 1.0]
    assert found.counted.tolist() == [True, False, False, True]
    assert found.n == 2


def test_no_task_has_enough() -> None:
    found = pass_hat_k([1, 2], [1, 2], 3)
    assert (found.n, found.mean) == (0, None)
    assert pass_at_k([], [], 1).mean is None


@given(counts())
def test_exact_against_comb(drawn: tuple[int, int, int]) -> None:
    judged, passed, k = drawn
    at, hat = pass_at_k([judged], [passed], k).mean, pass_hat_k([judged], [passed], k).mean
    assert at == pytest.approx(1 - comb(judged - passed, k) / comb(judged, k), rel=0, abs=1e-12)
    assert hat == pytest.approx(comb(passed, k) / comb(judged, k), rel=0, abs=1e-12)


@pytest.mark.parametrize(("judged", "passed", "k"), [(5000, 3, 1000), (5000, 4990, 2500), (3000, 0, 3000)])
def test_thousands_of_rollouts(judged: int, passed: int, k: int) -> None:
    assert pass_at_k([judged], [passed], k).mean == pytest.approx(1 - comb(judged - passed, k) / comb(judged, k))
    assert pass_hat_k([judged], [passed], k).mean == pytest.approx(comb(passed, k) / comb(judged, k))


@given(counts())
def test_hat_is_at_most_one_is_at_most_at(drawn: tuple[int, int, int]) -> None:
    judged, passed, k = drawn
    at, hat = pass_at_k([judged], [passed], k).mean, pass_hat_k([judged], [passed], k).mean
    assert at is not None
    assert hat is not None
    assert 0 <= hat <= passed / judged + 1e-12
    assert passed / judged - 1e-12 <= at <= 1


@given(counts())
def test_all_failing_is_the_complement(drawn: tuple[int, int, int]) -> None:
    judged, passed, k = drawn
    all_fail = pass_hat_k([judged], [judged - passed], k).mean
    assert pass_at_k([judged], [passed], k).mean == pytest.approx(1 - (all_fail or 0.0))


def test_what_cannot_be_counted_raises() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        pass_at_k([3], [1], 0)
    with pytest.raises(ValueError, match="0 <= passed <= judged"):
        pass_hat_k([3], [4], 1)
