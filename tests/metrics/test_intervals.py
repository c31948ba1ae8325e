"""Limits against textbook values and scipy.stats, and how often they hold the truth."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from blade.core.measure import Interval
from blade.metrics.intervals import bootstrap_interval, mean_interval, rate_interval
from blade.metrics.pass_at_k import pass_at_k

SPREAD = 0.428
"""a + b of the Beta that task pass rates come from: most tasks nearly always or nearly never pass."""

shares = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0]), min_size=2, max_size=40)


def some(interval: Interval | None) -> Interval:
    assert interval is not None
    return interval


def test_one_repeat_is_wilson_with_n_less_one_and_a_t_quantile() -> None:
    # 3 of 10 tasks: sample variance 0.21 * 10/9, so Var(m) = 0.21/9 and effective n = 9. t(9) = 2.262157.
    found = some(rate_interval([1] * 3 + [0] * 7, rollouts=10))
    t, n = 2.2621571628, 9
    middle = (0.3 + t**2 / (2 * n)) / (1 + t**2 / n)
    half = t * (0.21 / n + t**2 / (4 * n**2)) ** 0.5 / (1 + t**2 / n)
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half), abs=1e-9)
    assert (found.n, found.level, found.rough) == (10, 0.95, True)
    assert found.method == "Wilson, effective n over tasks"


def test_many_tasks_give_the_published_wilson_limits() -> None:
    # With thousands of tasks n - 1 and t make no difference: scipy's Wilson limits for 420 of 1000.
    expected = stats.binomtest(4200, 10000).proportion_ci(method="wilson")
    found = some(rate_interval([1] * 4200 + [0] * 5800, rollouts=10000))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=2e-5)
    assert not found.rough


def test_repeats_are_worth_at_most_their_number() -> None:
    # Scores of 0.5 +- 0.01 would be worth an n of 22,500; ten tasks of four rollouts are worth 40.
    scores = [0.49, 0.51] * 5
    found = some(rate_interval(scores, rollouts=40))
    t = stats.t.ppf(0.975, 9)
    assert found.high - 0.5 == pytest.approx(t * (0.25 / 40 + t**2 / 6400) ** 0.5 / (1 + t**2 / 40))


@pytest.mark.parametrize("share", [0.0, 1.0, 1 / 3])
def test_all_tasks_agreeing_leaves_their_number(share: float) -> None:
    found = some(rate_interval([share] * 20, rollouts=80))
    t2 = stats.t.ppf(0.975, 19) ** 2
    half = (t2 * (share * (1 - share) / 20 + t2 / 1600)) ** 0.5 / (1 + t2 / 20)
    assert found.high - found.low == pytest.approx(2 * half)
    assert found.low <= share <= found.high


def test_no_failure_in_20_tasks() -> None:
    # Wilson at m = 1 ends at n / (n + t^2); t(19) = 2.0930.
    found = some(rate_interval([1.0] * 20, rollouts=20))
    assert found.low == pytest.approx(20 / (20 + 2.0930240544**2))
    assert found.high == 1.0


def test_groups_of_equal_size_are_the_units() -> None:
    scores = np.array([1, 1, 0, 0, 1, 0, 0.5, 0.5])
    groups = ["a", "a", "b", "b", "c", "c", "d", "d"]
    by_group = some(rate_interval(scores, rollouts=100, groups=groups))
    means = some(rate_interval([1, 0, 0.5, 0.5], rollouts=100))
    assert (by_group.low, by_group.high, by_group.n) == pytest.approx((means.low, means.high, 4))
    assert by_group.method.endswith("over groups")


def test_unequal_groups_keep_the_score_inside() -> None:
    scores = [1.0] * 50 + [0.0, 0.0]
    groups = ["big"] * 50 + ["x", "y"]
    found = some(rate_interval(scores, rollouts=52, groups=groups))
    assert found.low <= 50 / 52 <= found.high
    assert found.n == 3


def test_one_group_a_task_changes_nothing() -> None:
    scores = [1, 0, 0.5, 0.25]
    plain, grouped = some(rate_interval(scores, 16)), some(rate_interval(scores, 16, groups=[0, 1, 2, 3]))
    assert (plain.low, plain.high) == pytest.approx((grouped.low, grouped.high))


@pytest.mark.parametrize("scores", [[], [0.5]])
def test_no_interval_over_fewer_than_two_tasks(scores: list[float]) -> None:
    assert rate_interval(scores, rollouts=5) is None
    assert mean_interval(scores) is None
    assert bootstrap_interval(scores) is None


def test_limits_are_plain_floats_that_any_codec_can_write() -> None:
    scores = np.array([0.0, 0.5, 1.0])
    for found in (rate_interval(scores, 6), mean_interval(scores), bootstrap_interval(scores)):
        assert {type(some(found).low), type(some(found).high)} == {float}


def test_one_group_has_no_interval() -> None:
    assert rate_interval([1, 0, 1], rollouts=3, groups=["a", "a", "a"]) is None
    assert mean_interval([1, 0, 1], groups=["a", "a", "a"]) is None


@pytest.mark.parametrize("scores", [[0.5, 1.5], [-1.0, 1.0], [0.5, float("nan")]])
def test_what_is_no_rate_never_reaches_wilson(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        rate_interval(scores, rollouts=2)


def test_groups_must_match_the_tasks() -> None:
    with pytest.raises(ValueError, match="3 tasks, but 2 group names"):
        rate_interval([1, 0, 1], rollouts=3, groups=["a", "b"])


def test_mean_interval_is_students() -> None:
    values = [3.0, -1.0, 2.5, 0.0, 7.0]
    expected = stats.t.interval(0.9, 4, loc=np.mean(values), scale=stats.sem(values))
    found = some(mean_interval(values, level=0.9))
    assert (found.low, found.high) == pytest.approx(expected)
    assert (found.n, found.level, found.method, found.rough) == (5, 0.9, "t over tasks", True)


def test_equal_values_have_no_t_limits() -> None:
    assert mean_interval([0.1 + 0.2, 0.3, 0.3]) is None


def test_30_units_are_not_rough() -> None:
    assert some(mean_interval(range(29))).rough
    assert not some(mean_interval(range(30))).rough


def test_bootstrap_is_close_to_the_exact_resampling_distribution() -> None:
    # The mean of a resample of 3 ones in 10 is Binomial(10, 0.3) / 10: quantiles 0.1 and 0.6.
    found = some(bootstrap_interval([1] * 3 + [0] * 7))
    assert (found.low, found.high) == (stats.binom.ppf(0.025, 10, 0.3) / 10, stats.binom.ppf(0.975, 10, 0.3) / 10)


def test_bootstrap_agrees_with_scipy() -> None:
    values = np.random.default_rng(5).beta(2, 1, 60)
    expected = stats.bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    found = some(bootstrap_interval(values))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.005)


def test_bootstrap_does_not_depend_on_order_and_names_its_seed() -> None:
    values = np.random.default_rng(0).random(50)
    assert bootstrap_interval(values, seed=7) == bootstrap_interval(values[::-1], seed=7)
    assert some(bootstrap_interval(values, seed=7)).method.endswith("seed 7")
    assert bootstrap_interval(values, seed=7) != bootstrap_interval(values, seed=8)


def test_bootstrap_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(50)
    whole = bootstrap_interval(values)
    monkeypatch.setattr("blade.metrics.intervals.CELLS_AT_ONCE", 1000)
    assert bootstrap_interval(values) == whole


def test_bootstrap_of_tasks_that_agree_is_wilson() -> None:
    assert bootstrap_interval([1.0] * 20) == rate_interval([1.0] * 20, rollouts=20)


@given(shares, st.integers(1, 10))
def test_rate_limits_lie_in_0_1_and_hold_the_mean(scores: list[float], repeats: int) -> None:
    found = some(rate_interval(scores, rollouts=repeats * len(scores)))
    assert 0 <= found.low <= np.mean(scores) + 1e-12
    assert np.mean(scores) - 1e-12 <= found.high <= 1
    assert found.low < found.high


@given(shares)
def test_failing_is_passing_upside_down(scores: list[float]) -> None:
    found, turned = some(rate_interval(scores, 200)), some(rate_interval([1 - s for s in scores], 200))
    assert (found.low, found.high) == pytest.approx((1 - turned.high, 1 - turned.low), abs=1e-9)


@given(shares)
def test_order_of_tasks_does_not_matter(scores: list[float]) -> None:
    one, other = some(rate_interval(scores, 200)), some(rate_interval(sorted(scores), 200))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


@given(shares)
def test_a_higher_level_is_wider(scores: list[float]) -> None:
    inner, outer = some(rate_interval(scores, 200, level=0.9)), some(rate_interval(scores, 200, level=0.95))
    assert outer.low <= inner.low < inner.high <= outer.high


def drawn_passes(mean: float, tasks: int, repeats: int, times: int) -> npt.NDArray[np.int64]:
    rng = np.random.default_rng([tasks, repeats, round(mean * 100)])
    rates = rng.beta(mean * SPREAD, (1 - mean) * SPREAD, (times, tasks))
    return rng.binomial(repeats, rates).astype(np.int64)


def rate_coverage(mean: float, tasks: int, repeats: int, times: int = 2000) -> float:
    runs = drawn_passes(mean, tasks, repeats, times)
    limits = [some(rate_interval(passes / repeats, tasks * repeats)) for passes in runs]
    return float(np.mean([found.low <= mean <= found.high for found in limits]))


def exact_coverage(mean: float, tasks: int) -> float:
    """One repeat: only the number of passing tasks matters, so the coverage is a sum and not a simulation."""
    limits = [some(rate_interval([1] * c + [0] * (tasks - c), tasks)) for c in range(tasks + 1)]
    held = [c for c, found in enumerate(limits) if found.low <= mean <= found.high]
    return float(stats.binom.pmf(held, tasks, mean).sum())


@pytest.mark.parametrize("mean", [0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
def test_exact_coverage_with_one_repeat(mean: float) -> None:
    assert all(exact_coverage(mean, tasks) >= 0.92 for tasks in (10, 30))
    assert all(0.93 <= exact_coverage(mean, tasks) <= 0.97 for tasks in (100, 300))


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [4, 10])
def test_rate_intervals_cover_what_they_promise(repeats: int) -> None:
    """Task rates from Beta(0.428 m, 0.428 (1 - m)); grid of means m: 0.2 to 0.8, and 0.1 and 0.9 from 100 tasks on."""
    few = {(n, m): rate_coverage(m, n, repeats) for n in (10, 30) for m in (0.2, 0.3, 0.5, 0.7, 0.8)}
    many = {(n, m): rate_coverage(m, n, repeats) for n in (100, 300) for m in (0.1, 0.2, 0.5, 0.8, 0.9)}
    assert {key: value for key, value in few.items() if value < 0.92} == {}
    assert {key: value for key, value in many.items() if not 0.93 <= value <= 0.97} == {}


@pytest.mark.slow
def test_known_limit_few_passing_tasks_with_many_repeats() -> None:
    """The spread of 30 tasks of which one or two ever pass is seen too small: about 89 % instead of 95 %.

    A definition that mends this will fail here, and should; then this test goes.
    """
    assert 0.86 <= rate_coverage(0.05, 30, 10) <= 0.92


@pytest.mark.slow
def test_t_limits_of_paired_differences_cover() -> None:
    rng = np.random.default_rng(2)
    for tasks in (10, 30, 100):
        rates = rng.beta(0.214, 0.214, (2, 2000, tasks))
        before, after = rng.binomial(4, rates) / 4
        limits = [some(mean_interval(d)) for d in after - before]
        assert 0.93 <= np.mean([found.low <= 0 <= found.high for found in limits]) <= 0.97


@pytest.mark.slow
def test_bootstrap_of_pass_at_k_covers_with_many_tasks_and_is_rough_with_few() -> None:
    """Truth: pass@4 = 1 - E(1 - p)^4, with p from Beta(0.214, 0.214), worked out as a product."""
    truth = 1 - float(np.prod([(0.214 + i) / (0.428 + i) for i in range(4)]))

    def coverage(tasks: int) -> float:
        runs = drawn_passes(0.5, tasks, 8, 3000)
        values = [pass_at_k(np.full(tasks, 8), passes, 4).values for passes in runs]
        limits = [some(bootstrap_interval(v, resamples=1000)) for v in values]
        return float(np.mean([found.low <= truth <= found.high for found in limits]))

    assert 0.93 <= coverage(100) <= 0.97
    assert 0.93 <= coverage(300) <= 0.97
    assert 0.87 <= coverage(10) <= 0.92
