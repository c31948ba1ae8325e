"""The sign-flip test against enumeration and scipy.stats, and how often it cries wolf."""

from itertools import product
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from blade.model.measure import Interval
from blade.stats.association import Strata, associate
from blade.stats.paired import (
    ALL_EQUAL,
    ENUMERATED,
    EXACT,
    NORMAL,
    compare_counts,
    compare_rewards,
    no_spread_limit,
    sign_flip_enumerated,
    sign_flip_exact,
    sign_flip_normal,
)

Counts = npt.NDArray[np.int64]


def some(interval: Interval | None) -> Interval:
    assert interval is not None
    return interval


def brute_force(differences: list[int]) -> float:
    patterns = np.array(list(product((1, -1), repeat=len(differences))))
    return float(np.mean(np.abs(patterns @ differences) >= abs(sum(differences))))


def test_by_hand() -> None:
    # Five tasks gained, none lost: only all + and all - are as far out, 2 of 32.
    found = compare_counts([0] * 8, [1] * 8, [1] * 5 + [0] * 3, [1] * 8)
    assert found.p_value == pytest.approx(2 / 32)
    assert (found.delta, found.n, found.method) == (0.625, 8, EXACT)


def test_one_repeat_is_the_sign_test() -> None:
    # 9 gained, 2 lost, 30 the same: McNemar's exact test.
    before, after = [0] * 9 + [1] * 2 + [1] * 30, [1] * 9 + [0] * 2 + [1] * 30
    found = compare_counts(before, [1] * 41, after, [1] * 41)
    assert found.p_value == pytest.approx(stats.binomtest(2, 11).pvalue)


def test_scipy_finds_the_same() -> None:
    before, after = np.array([0, 1, 2, 4, 1, 0, 3, 2]), np.array([3, 1, 4, 4, 2, 3, 1, 4])
    expected = stats.permutation_test(
        ((after - before) / 4,), lambda d, axis: d.mean(axis=axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    four = np.full(8, 4)
    assert compare_counts(before, four, after, four).p_value == pytest.approx(expected)


def test_unequal_repeats_share_a_denominator() -> None:
    # 1/3 - 1/2, 3/4 - 0, 1 - 1/2 are -2, 9 and 6 twelfths.
    found = compare_counts([1, 0, 1], [2, 1, 2], [1, 3, 3], [3, 4, 3])
    assert found.delta == pytest.approx((-2 + 9 + 6) / 36)
    assert found.p_value == pytest.approx(brute_force([-2, 9, 6]))
    assert found.method == EXACT


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=10))
def test_convolution_is_enumeration(differences: list[int]) -> None:
    expected = brute_force(differences)
    assert sign_flip_exact(differences) == pytest.approx(expected)
    assert sign_flip_enumerated(differences) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=60))
def test_swapping_runs_turns_the_sign_and_nothing_else(drawn: list[tuple[int, int]]) -> None:
    before, after = np.array(drawn).T
    six = np.full(len(drawn), 6)
    there, back = compare_counts(before, six, after, six), compare_counts(after, six, before, six)
    assert there.delta == pytest.approx(-(back.delta or 0.0), abs=1e-12)
    assert there.p_value == pytest.approx(back.p_value)
    assert there.mde == pytest.approx(back.mde)
    assert there.equivalence_bound == pytest.approx(back.equivalence_bound)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60), st.integers(2, 5))
def test_counting_every_rollout_several_times_changes_nothing(drawn: list[tuple[int, int]], times: int) -> None:
    """p rests on tasks: the same rates from more repeats are the same evidence here."""
    before, after = np.array(drawn).T
    few, many = np.full(len(drawn), 4), np.full(len(drawn), 4 * times)
    assert compare_counts(before, few, after, few) == compare_counts(before * times, many, after * times, many)


def test_normal_tail_meets_the_exact_one_where_it_takes_over() -> None:
    rng = np.random.default_rng(4)
    differences = rng.integers(-4, 5, 800)
    differences[:20] = 4
    assert sign_flip_normal(differences, half_step=1) == pytest.approx(sign_flip_exact(differences), rel=0.005)


def test_above_800_differing_tasks_the_method_says_normal() -> None:
    ones = np.ones(801, dtype=np.int64)
    found = compare_counts(0 * ones, ones, ones, ones)
    assert found.method == NORMAL
    assert found.p_value is not None
    assert found.p_value > 0


def test_800_differing_tasks_are_exact_and_the_chance_is_not_zero() -> None:
    ones = np.ones(800, dtype=np.int64)
    found = compare_counts(0 * ones, ones, ones, ones)
    assert found.method == EXACT
    assert found.p_value == pytest.approx(2.0**-799)


def test_repeats_without_a_common_measure_use_what_is_left() -> None:
    primes = np.array([101, 103, 107, 109, 113, 127, 131, 137, 139, 149])
    few = compare_counts(primes // 2, primes, primes // 3, primes)
    assert few.method == ENUMERATED
    assert few.p_value == pytest.approx(2 / 2**10)
    many = np.concatenate((primes, primes + 1, primes + 3))
    assert compare_counts(many // 2, many, many // 3, many).method == NORMAL


def test_rewards_are_enumerated_up_to_20_and_named() -> None:
    rng = np.random.default_rng(6)
    before, after = rng.normal(0, 1, 20), rng.normal(0.3, 1, 20)
    found = compare_rewards(before, after, span=8.0)
    assert found.method == ENUMERATED
    assert found.p_value == pytest.approx(stats.ttest_rel(after, before).pvalue, abs=0.03)
    longer = compare_rewards([*before, 0.0], [*after, 1.0], span=8.0)
    assert longer.method == NORMAL


def test_zero_differences_do_not_use_up_the_enumeration() -> None:
    before = np.zeros(500)
    after = np.where(np.arange(500) < 6, 0.3, 0.0)
    found = compare_rewards(before, after, span=1.0)
    assert (found.method, found.p_value, found.n) == (ENUMERATED, 2 / 64, 500)


def test_rounding_does_not_tell_equal_totals_apart() -> None:
    # 0.1 + 0.2 - 0.3 is 0, and 5.6e-17 in binary: taken literally, not every pattern would be as far out.
    assert sign_flip_enumerated([0.1, 0.2, -0.3]) == 1.0


def test_limits_mde_and_bound_by_hand() -> None:
    # d = 1, 0, 0, -1, 1, 0.5: mean 0.25, sample variance 2.875/5, se = sqrt(0.575/6).
    found = compare_counts([0, 2, 0, 2, 0, 0], [2] * 6, [2, 2, 0, 0, 2, 1], [2] * 6)
    se = sqrt(0.575 / 6)
    assert found.mde == pytest.approx(2.80 * se)
    assert some(found.interval).low == pytest.approx(0.25 - stats.t.ppf(0.975, 5) * se)
    assert some(found.interval90).high == pytest.approx(0.25 + stats.t.ppf(0.95, 5) * se)
    assert found.equivalence_bound == pytest.approx(0.25 + stats.t.ppf(0.95, 5) * se)
    assert some(found.interval).rough


def test_limits_do_not_reach_beyond_what_a_score_can_change() -> None:
    found = compare_counts([0, 0, 0], [1] * 3, [1, 1, 0], [1] * 3)
    assert some(found.interval).high == 1.0
    assert some(compare_rewards([0, 0, 0], [3, 3, 0], span=3.0).interval).high == 3.0


def test_no_difference_anywhere() -> None:
    # 1 - 0.05^(1/44) = 0.0658: "anything beyond +-6.6 points is ruled out".
    found = compare_counts([1] * 44, [2] * 44, [2] * 44, [4] * 44)
    assert (found.delta, found.p_value, found.method) == (0.0, 1.0, ALL_EQUAL)
    assert found.equivalence_bound == pytest.approx(0.0658, abs=5e-5)
    assert (some(found.interval).low, some(found.interval90).high) == pytest.approx((-0.0658, 0.0658), abs=5e-5)
    assert found.mde is None
    assert found.reason is not None


def test_the_same_gain_everywhere_still_has_limits() -> None:
    found = compare_counts([0] * 20, [1] * 20, [1] * 20, [1] * 20)
    assert some(found.interval).low == pytest.approx(1 - 2 * no_spread_limit(20))
    assert some(found.interval).high == 1.0
    assert found.p_value == pytest.approx(2 / 2**20)


def test_span_scales_the_limits_of_rewards_that_agree() -> None:
    found = compare_rewards([3.0] * 10, [3.0] * 10, span=5.0)
    assert found.equivalence_bound == pytest.approx(5 * (1 - 0.05**0.1))


def test_thin_comparisons_have_no_limits() -> None:
    one = compare_counts([0], [1], [1], [1])
    assert (one.delta, one.p_value, one.n, one.interval, one.mde) == (1.0, 1.0, 1, None, None)
    assert one.reason == "one shared task: no spread over tasks"
    none = compare_counts([], [], [], [])
    assert (none.delta, none.p_value, none.n, none.reason) == (None, None, 0, "no shared task")


def test_numbers_are_plain_floats_that_any_codec_can_write() -> None:
    for found in (
        compare_counts([0, 1, 2], [2] * 3, [2, 1, 1], [2] * 3),
        compare_rewards([0.1, 0.2], [0.5, 0.1], span=1.0),
    ):
        numbers = (found.delta, found.p_value, found.mde, found.equivalence_bound)
        limits = (some(found.interval).low, some(found.interval).high, some(found.interval90).low)
        assert {type(number) for number in (*numbers, *limits)} == {float}


def test_a_task_without_expected_rollouts_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="at least one expected"):
        compare_counts([0], [0], [1], [1])


def drawn_pairs(
    mean: float, repeats: tuple[int, int], *, shared: bool, seed: int, times: int = 1000, tasks: int = 50
) -> tuple[Counts, Counts]:
    """Passes of two runs of equal strength; unless `shared`, each run finds other tasks hard."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.428 * mean, 0.428 * (1 - mean), (2, times, tasks))
    other = rates[0] if shared else rates[1]
    return rng.binomial(repeats[0], rates[0]).astype(np.int64), rng.binomial(repeats[1], other).astype(np.int64)


def sign_flip_rejects(before: Counts, after: Counts, repeats: tuple[int, int]) -> float:
    of = [np.full(before.shape[1], r) for r in repeats]
    p_values = [compare_counts(a, of[0], b, of[1]).p_value for a, b in zip(before, after, strict=True)]
    return float(np.mean([p is not None and p <= 0.05 for p in p_values]))


def pooled_z_rejects(before: Counts, after: Counts, rollouts: int) -> float:
    a, b = before.sum(axis=1) / rollouts, after.sum(axis=1) / rollouts
    middle = (a + b) / 2
    return float(np.mean(np.abs(b - a) / np.sqrt(2 * middle * (1 - middle) / rollouts) > 1.96))


def within_task_shuffle_rejects(before: Counts, after: Counts, repeats: int) -> float:
    """Shuffling rollouts between the runs within each task is the conditional test with "run" as the symptom."""
    once = np.full(before.shape[1], repeats)
    strata = [Strata(both=b, fired=once, failed=a + b, total=2 * once) for a, b in zip(before, after, strict=True)]
    return float(np.mean([(associate(s).p_value or 1.0) <= 0.05 for s in strata]))


@pytest.mark.slow
def test_null_with_task_by_run_interaction() -> None:
    before, after = drawn_pairs(0.5, (10, 10), shared=False, seed=20)
    assert 0.03 <= sign_flip_rejects(before, after, (10, 10)) <= 0.07
    # Counter-examples: both take rollouts of one task for independent evidence about the runs.
    assert pooled_z_rejects(before, after, 500) == pytest.approx(0.45, abs=0.06)
    assert within_task_shuffle_rejects(before, after, 10) == pytest.approx(0.55, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.1, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("repeats", [(10, 10), (4, 1), (1, 4)])
def test_null_with_shared_rates_and_unequal_repeats(mean: float, repeats: tuple[int, int]) -> None:
    before, after = drawn_pairs(mean, repeats, shared=True, seed=21)
    assert sign_flip_rejects(before, after, repeats) <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.2, 0.5, 0.8])
def test_null_with_interaction_and_unequal_repeats(mean: float) -> None:
    before, after = drawn_pairs(mean, (4, 1), shared=False, seed=22)
    assert sign_flip_rejects(before, after, (4, 1)) <= 0.07


@pytest.mark.slow
def test_real_effects_are_found_as_often_as_the_mde_promises() -> None:
    rng = np.random.default_rng(23)
    tasks, repeats, gain = 100, 4, 0.15
    rates = rng.uniform(0, 1 - gain, (600, tasks))
    before, after = rng.binomial(repeats, rates), rng.binomial(repeats, rates + gain)
    four = np.full(tasks, repeats)
    found = [compare_counts(a, four, b, four) for a, b in zip(before, after, strict=True)]
    # The power that the mean MDE promises for this gain, by the normal curve.
    promised = stats.norm.cdf(2.80 * gain / np.mean([f.mde or 0.0 for f in found]) - 1.96)
    assert np.mean([(f.p_value or 1.0) <= 0.05 for f in found]) == pytest.approx(promised, abs=0.03)
