"""Parts of the variance worked out by hand, and plans that can be checked by drawing runs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.stats.variance import (
    interaction_variance,
    minimum_detectable_effect,
    paired_se,
    pass_variance,
    repeats_needed,
    reward_variance,
    tasks_needed,
)


def test_by_hand() -> None:
    # Rates 0, 1/2, 1 of 4: within 0, (1/4)/3, 0, so W = 1/36; T = 1/4; between = 2/9; reliability 8/9.
    found = pass_variance([4, 4, 4], [0, 2, 4])
    assert found.within == pytest.approx(1 / 36)
    assert found.total == pytest.approx(1 / 4)
    assert found.between == pytest.approx(2 / 9)
    assert found.reliability == pytest.approx(8 / 9)
    assert found.se_new_tasks == pytest.approx((1 / 12) ** 0.5)
    assert found.se_same_tasks == pytest.approx((1 / 108) ** 0.5)
    assert found.reason is None


def test_noise_larger_than_the_spread_leaves_nothing_between() -> None:
    found = pass_variance([2, 2], [1, 1])
    assert (found.total, found.between, found.within) == (0.0, 0.0, 0.25)
    assert found.reliability is None
    assert found.reason is not None


def test_one_repeat_shows_the_spread_and_not_its_parts() -> None:
    found = pass_variance([1, 1, 1, 1], [1, 0, 0, 1])
    assert found.total == pytest.approx(1 / 3)
    assert found.se_new_tasks == pytest.approx((1 / 12) ** 0.5)
    assert (found.within, found.between, found.reliability, found.se_same_tasks) == (None, None, None, None)
    assert "two repeats" in (found.reason or "")


def test_tasks_without_a_verdict_do_not_count() -> None:
    assert pass_variance([4, 0, 4, 4], [0, 0, 2, 4]) == pass_variance([4, 4, 4], [0, 2, 4])


@pytest.mark.parametrize(("judged", "passed"), [([], []), ([5], [3]), ([0, 0], [0, 0])])
def test_fewer_than_two_tasks(judged: list[int], passed: list[int]) -> None:
    found = pass_variance(judged, passed)
    assert (found.total, found.between, found.se_new_tasks) == (None, None, None)
    assert found.reason == "fewer than two tasks have a score"


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=2, max_size=12))
def test_rewards_of_0_and_1_are_passes(tasks: list[list[bool]]) -> None:
    names = [f"t{i:02}" for i, rollouts in enumerate(tasks) for _ in rollouts]
    by_reward = reward_variance(names, [float(passed) for rollouts in tasks for passed in rollouts])
    by_pass = pass_variance([len(rollouts) for rollouts in tasks], [sum(rollouts) for rollouts in tasks])
    for part in ("total", "within", "between", "reliability", "se_new_tasks", "se_same_tasks"):
        assert getattr(by_reward, part) == pytest.approx(getattr(by_pass, part), abs=1e-12)


def test_rewards_by_hand() -> None:
    # Task a: 1 and 3, mean 2, variance 2, so 1 for its mean; task b: 5 and 5. T = 4.5, W = 0.5.
    found = reward_variance(["a", "b", "a", "b"], [1, 5, 3, 5])
    assert (found.total, found.within, found.between) == pytest.approx((4.5, 0.5, 4.0))


@given(st.lists(st.tuples(st.integers(0, 5), st.just(5)), min_size=2, max_size=30))
def test_parts_stay_in_their_places(drawn: list[tuple[int, int]]) -> None:
    found = pass_variance([j for _, j in drawn], [c for c, _ in drawn])
    assert found.total is not None
    assert found.between is not None
    assert 0 <= found.between <= found.total
    assert found.reliability is None or 0 <= found.reliability <= 1


def test_planner_at_the_repeats_that_were_measured_gives_back_the_seen_spread() -> None:
    # At r = k: (2W + Var(d) - 2W) / n = Var(d) / n.
    v = interaction_variance(0.09, within=0.02)
    assert v == pytest.approx(0.05)
    se = paired_se(within=0.02, measured_repeats=4, interaction=v, repeats=4, tasks=100)
    assert se == pytest.approx((0.09 / 100) ** 0.5)
    assert minimum_detectable_effect(se) == pytest.approx(2.80 * 0.03)


def test_more_repeats_remove_only_the_noise_within() -> None:
    se = paired_se(within=0.02, measured_repeats=4, interaction=0.05, repeats=10**9, tasks=50)
    assert se == pytest.approx((0.05 / 50) ** 0.5)


def test_interaction_is_never_negative() -> None:
    assert interaction_variance(0.01, within=0.02) == 0.0


def test_tasks_needed_by_hand() -> None:
    # 2 * 4 * 0.02 / 1 + 0.05 = 0.21 a task; 0.21 * (2.8 / 0.1)^2 = 164.64.
    assert tasks_needed(0.1, within=0.02, measured_repeats=4, interaction=0.05, repeats=1) == 165


def test_repeats_needed_by_hand() -> None:
    # 100 * (0.1 / 2.8)^2 - 0.05 = 0.0775510; 0.16 / 0.0775510 = 2.06.
    assert repeats_needed(0.1, within=0.02, measured_repeats=4, interaction=0.05, tasks=100) == 3
    assert repeats_needed(0.1, within=0.02, measured_repeats=4, interaction=0.05, tasks=39) is None
    assert repeats_needed(0.1, within=0.0, measured_repeats=4, interaction=0.05, tasks=100) == 1


plans = st.fixed_dictionaries(
    {"within": st.floats(0, 0.25), "measured_repeats": st.integers(1, 8), "interaction": st.floats(0, 0.5)}
)


@given(st.floats(0.01, 0.5), plans, st.integers(1, 20))
def test_the_tasks_needed_are_enough_and_one_less_is_not(effect: float, plan: dict[str, Any], repeats: int) -> None:
    needed = tasks_needed(effect, **plan, repeats=repeats)
    assert minimum_detectable_effect(paired_se(**plan, repeats=repeats, tasks=needed)) <= effect * (1 + 1e-6)
    fewer = paired_se(**plan, repeats=repeats, tasks=needed - 1)
    assert needed == 2 or minimum_detectable_effect(fewer) > effect * (1 - 1e-6)


@given(st.floats(0.01, 0.5), plans, st.integers(2, 500))
def test_the_repeats_needed_are_enough_and_one_less_is_not(effect: float, plan: dict[str, Any], tasks: int) -> None:
    needed = repeats_needed(effect, **plan, tasks=tasks)
    if needed is None:
        assert minimum_detectable_effect((plan["interaction"] / tasks) ** 0.5) >= effect * (1 - 1e-6)
        return
    assert minimum_detectable_effect(paired_se(**plan, repeats=needed, tasks=tasks)) <= effect * (1 + 1e-6)
    if needed > 1:
        assert minimum_detectable_effect(paired_se(**plan, repeats=needed - 1, tasks=tasks)) > effect * (1 - 1e-6)


@pytest.mark.slow
def test_a_plan_foretells_the_spread_of_runs_with_other_repeats() -> None:
    """W and V measured at 4 repeats; differences then drawn at 1 and at 16 repeats on 60 tasks."""
    rng = np.random.default_rng(11)
    rates = rng.beta(1, 1, (2, 20_000))
    before, after = rng.binomial(4, rates)
    parts = [pass_variance(np.full(20_000, 4), passed).within for passed in (before, after)]
    within = sum(part for part in parts if part is not None) / 2
    v = interaction_variance(float(np.var((after - before) / 4, ddof=1)), within)
    for repeats in (1, 16):
        drawn = rng.binomial(repeats, rng.beta(1, 1, (2, 4000, 60))) / repeats
        seen = float(np.std((drawn[1] - drawn[0]).mean(axis=1)))
        planned = paired_se(within=within, measured_repeats=4, interaction=v, repeats=repeats, tasks=60)
        assert planned == pytest.approx(seen, rel=0.05)


@pytest.mark.slow
def test_an_effect_of_2_80_standard_errors_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(12)
    z = rng.normal(2.80, 1.0, 200_000)
    assert np.mean(np.abs(z) > 1.959964) == pytest.approx(0.80, abs=0.005)


@pytest.mark.slow
def test_unbiased_parts() -> None:
    """Rates from Beta(2, 2), variance 1/20; a rollout's mean variance is E p(1 - p) = 1/5, at 5 repeats 1/25."""
    rng = np.random.default_rng(13)
    found = pass_variance(np.full(200_000, 5), rng.binomial(5, rng.beta(2, 2, 200_000)))
    assert found.within == pytest.approx(1 / 25, rel=0.02)
    assert found.between == pytest.approx(1 / 20, rel=0.02)
