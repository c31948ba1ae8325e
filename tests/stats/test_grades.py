"""Grades by hand, and how often a symptom without any effect is called shown."""

from __future__ import annotations

import numpy as np
import pytest

from blade.model.diagnosis import Support
from blade.stats.association import benjamini_hochberg, count_strata
from blade.stats.support import observe, opposite, slices_of, support


def test_a_symptom_that_goes_with_failing_in_every_task_is_shown() -> None:
    tasks = np.repeat(np.arange(6), 4)
    fired = np.tile([True, True, False, False], 6)
    seen = observe(count_strata(tasks, fired, fired))
    assert seen.association.p_value == pytest.approx((1 / 6) ** 6 * 2)
    assert support(seen, seen.association.p_value) is Support.SHOWN


def test_a_symptom_in_no_pass_and_no_telling_task_is_consistent() -> None:
    tasks = np.arange(30)
    failed = tasks < 10
    seen = observe(count_strata(tasks, tasks < 5, failed))
    assert seen.association.informative == 0
    assert support(seen, None) is Support.CONSISTENT
    often = observe(count_strata(tasks, (tasks < 5) | (tasks > 20), failed))
    assert support(often, None) is Support.UNCLEAR


def test_opposite_signs_in_two_slices_are_mixed() -> None:
    tasks = np.arange(40)
    slices = np.where(tasks < 20, "a", "b")
    fired = tasks % 2 == 0
    failed = np.where(tasks < 20, fired, ~fired)
    seen = observe(count_strata(tasks, fired, failed), opposite(fired, failed, slices_of(slices)))
    assert seen.mixed_in == ("a", "b")
    assert support(seen, None) is Support.MIXED


def test_the_counts_are_those_of_the_rollouts() -> None:
    seen = observe(count_strata([7, 7, 2, 2, 2], [True, False, True, True, False], [True, True, True, False, False]))
    assert (seen.fired_failed, seen.fired_passed, seen.failed, seen.passed) == (2, 1, 3, 2)


def test_a_slice_with_few_rollouts_on_one_side_has_no_sign() -> None:
    slices = slices_of(["a"] * 20 + ["b"] * 14)
    fired = np.array([True] * 10 + [False] * 10 + [True] * 4 + [False] * 10)
    failed = np.array([True] * 10 + [False] * 10 + [False] * 4 + [True] * 10)
    assert opposite(fired, failed, slices) == ()
    assert opposite(~fired, failed, slices) == ()
    five = np.array([True] * 10 + [False] * 10 + [True] * 5 + [False] * 9)
    assert opposite(five, failed ^ (five & ~fired), slices) == ("a", "b")
    assert opposite(five, failed, None) == ()


def test_shares_that_differ_by_little_have_no_sign() -> None:
    fired = np.tile([True, False], 20)
    slices = slices_of(["a"] * 20 + ["b"] * 20)
    failed = np.where(np.arange(40) < 20, np.arange(40) % 4 < 2, fired)
    assert opposite(fired, failed, slices) == ()


def test_a_symptom_without_effect_in_many_tasks_is_harmless() -> None:
    tasks = np.repeat(np.arange(200), 4)
    fired = np.tile([True, False, True, False], 200)
    failed = np.tile([True, True, False, False], 200)
    seen = observe(count_strata(tasks, fired, failed))
    assert seen.association.risk_difference == pytest.approx(0.0)
    assert support(seen, 1.0) in (Support.HARMLESS, Support.UNCLEAR)


@pytest.mark.slow
def test_symptoms_without_any_effect_are_rarely_called_shown() -> None:
    """400 runs of 40 tasks x 4 with ten symptoms each, independent of the outcome given the task."""
    random = np.random.default_rng(7)
    tasks = np.repeat(np.arange(40), 4)
    called = 0
    for _ in range(400):
        failed = random.random(160) < np.repeat(random.beta(0.6, 0.6, 40), 4)
        marks = [random.random(160) < np.repeat(random.beta(0.6, 0.6, 40), 4) for _ in range(10)]
        seen = [observe(count_strata(tasks, mark, failed)) for mark in marks]
        q = benjamini_hochberg([one.association.p_value or 1.0 for one in seen])
        called += any(support(one, value) is Support.SHOWN for one, value in zip(seen, map(float, q), strict=True))
    assert called / 400 <= 0.05
