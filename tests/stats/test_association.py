"""The conditional test against Fisher and published tables, and how rarely it calls noise a symptom."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from blade.stats import association
from blade.stats.association import (
    EXACT,
    NORMAL,
    Association,
    Strata,
    associate,
    benjamini_hochberg,
    count_strata,
    within_tasks,
)

Table = tuple[int, int, int, int]
"""Fired and failed, fired and passed, quiet and failed, quiet and passed."""

cells = st.integers(0, 4)
tables = st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=6)


def strata(*rows: Table) -> Strata:
    a, b, c, d = np.array(rows, dtype=np.int64).T
    return Strata(both=a, fired=a + b, failed=a + c, total=a + b + c + d)


def brute_force(rows: list[Table]) -> tuple[float, float]:
    """Two-sided and upper p by multiplying out scipy's hypergeometric distributions."""
    chances = {0: 1.0}
    for a, b, c, d in (row for row in rows if any(row)):
        of = stats.hypergeom(a + b + c + d, a + c, a + b)
        chances_of = {x: float(of.pmf(x)) for x in range(a + b + 1)}
        totals: dict[int, float] = {}
        for s, p in chances.items():
            for x, q in chances_of.items():
                totals[s + x] = totals.get(s + x, 0.0) + p * q
        chances = totals
    seen = sum(row[0] for row in rows)
    two_sided = sum(p for p in chances.values() if p <= chances[seen] * (1 + 1e-7))
    return two_sided, sum(p for s, p in chances.items() if s >= seen)


def test_one_task_is_fishers_exact_test() -> None:
    found = associate(strata((8, 2, 1, 5)))
    assert found.p_value == pytest.approx(stats.fisher_exact([[8, 2], [1, 5]]).pvalue)
    assert found.p_greater == pytest.approx(stats.fisher_exact([[8, 2], [1, 5]], alternative="greater").pvalue)
    assert found.odds_ratio == pytest.approx(8 * 5 / 2)
    assert found.risk_difference == pytest.approx(0.8 - 1 / 6)
    assert (found.informative, found.interval, found.method) == (1, None, EXACT)


def test_two_tasks_by_hand() -> None:
    # Each task: 1 of 2 failed, fired in the failing one. Chance 1/2 each, 1/4 together; both extremes: 1/2.
    found = associate(strata((1, 0, 0, 1), (1, 0, 0, 1)))
    assert (found.p_greater, found.p_value) == pytest.approx((0.25, 0.5))
    assert found.risk_difference == 1.0
    assert found.odds_ratio is None
    assert found.interval is None


def test_published_penicillin_tables() -> None:
    """Rabbits, Agresti's example and R's mantelhaen.test(exact = TRUE): p = 0.03994, two strata of five empty."""
    found = associate(strata((0, 0, 6, 5), (3, 0, 3, 6), (6, 2, 0, 4), (5, 6, 1, 0), (2, 5, 0, 0)))
    assert found.p_value == pytest.approx(0.03994, abs=5e-6)
    assert found.informative == 3


@settings(deadline=None)
@given(tables)
def test_convolution_is_the_multiplied_out_distribution(rows: list[Table]) -> None:
    found = associate(strata(*rows))
    if found.p_value is None:
        assert found.informative == 0
        return
    assert (found.p_value, found.p_greater) == pytest.approx(brute_force(rows))


def test_the_distribution_of_many_tasks_is_that_of_their_sum() -> None:
    """Of tasks with one failure in two and the symptom in one of them, the number of overlaps is binomial."""
    for tasks in range(1, 20):
        found = associate(strata(*[(1, 0, 0, 1)] * tasks))
        assert found.p_greater == pytest.approx(0.5**tasks)


def test_unequal_tasks_are_joined_in_any_order() -> None:
    rows: list[Table] = [
        (1, 0, 0, 1),
        (2, 1, 1, 4),
        (1, 2, 3, 1),
        (0, 1, 1, 0),
        (2, 0, 1, 2),
        (1, 1, 0, 2),
        (3, 1, 1, 3),
    ]
    for size in range(1, len(rows) + 1):
        found = associate(strata(*rows[:size]))
        assert (found.p_value, found.p_greater) == pytest.approx(brute_force(rows[:size]))


@given(tables)
def test_tasks_that_cannot_speak_leave_the_test_alone(rows: list[Table]) -> None:
    silent: list[Table] = [(3, 0, 2, 0), (0, 3, 0, 2), (0, 0, 2, 3), (2, 3, 0, 0), (0, 0, 0, 0)]
    alone, together = associate(strata(*rows)), associate(strata(*rows, *silent))
    assert together.p_value == pytest.approx(alone.p_value)
    assert together.odds_ratio == pytest.approx(alone.odds_ratio)
    assert together.informative == alone.informative


@given(tables)
def test_quiet_is_fired_upside_down(rows: list[Table]) -> None:
    found, turned = associate(strata(*rows)), associate(strata(*((c, d, a, b) for a, b, c, d in rows)))
    assert found.p_value == pytest.approx(turned.p_value)
    if found.risk_difference is not None:
        assert found.risk_difference == pytest.approx(-(turned.risk_difference or 0.0), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_order_of_rollouts_does_not_matter(rollouts: list[tuple[int, bool, bool]]) -> None:
    tasks, fired, failed = zip(*rollouts, strict=True)
    assert within_tasks(tasks, fired, failed) == within_tasks(tasks[::-1], fired[::-1], failed[::-1])


def test_counts_by_task() -> None:
    found = count_strata(["b", "a", "b", "b"], [True, False, True, False], [True, True, False, False])
    assert found.total.tolist() == [1, 3]
    assert (found.both.tolist(), found.fired.tolist(), found.failed.tolist()) == ([0, 1], [0, 2], [1, 1])


def test_a_hard_task_alone_shows_nothing() -> None:
    """Fires only in the task that always fails: pooled it looks deadly, within tasks there is nothing to compare."""
    found = within_tasks(["hard"] * 10 + ["easy"] * 10, [True] * 10 + [False] * 10, [True] * 10 + [False] * 10)
    assert (found.p_value, found.risk_difference, found.interval, found.informative) == (None, None, None, 0)
    assert found.reason is not None


def test_simpsons_paradox_is_seen_through() -> None:
    # Within each task fired rollouts fail less; pooled, they fail more: 18 of 24 against 11 of 24.
    rows: list[Table] = [(18, 4, 2, 0), (0, 2, 9, 13)]
    a, b, c, d = np.array(rows).sum(axis=0)
    assert a / (a + b) > c / (c + d)
    found = associate(strata(*rows))
    assert found.risk_difference is not None
    assert found.risk_difference < 0


def test_mantel_haenszel_by_hand() -> None:
    # Task 1: 3/4 against 1/4, weight 2. Task 2: 1/2 against 1/4, weight 8/6. RD = (2 * 1/2 + 4/3 * 1/4) / (10/3).
    found = associate(strata((3, 1, 1, 3), (1, 1, 1, 3)))
    assert found.risk_difference == pytest.approx((1 + 1 / 3) / (10 / 3))
    assert found.odds_ratio == pytest.approx((9 / 8 + 3 / 6) / (1 / 8 + 1 / 6))


def test_a_task_with_one_outcome_pulls_the_difference_towards_zero() -> None:
    without = associate(strata((3, 1, 1, 3), (1, 1, 1, 3))).risk_difference or 0.0
    with_it = associate(strata((3, 1, 1, 3), (1, 1, 1, 3), (0, 4, 0, 4))).risk_difference or 0.0
    assert 0 < with_it < without


@pytest.mark.parametrize("effect", [0.0, 0.06, -0.06])
def test_many_rollouts_use_the_normal_tail_and_say_so(effect: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    tasks, fired = np.repeat(np.arange(400), 10), rng.random(4000) < 0.4
    failed = rng.random(4000) < 0.5 + effect * fired
    exact = within_tasks(tasks, fired, failed)
    monkeypatch.setattr(association, "EXACT_SUPPORT", 100)
    normal = within_tasks(tasks, fired, failed)
    assert (exact.method, normal.method) == (EXACT, NORMAL)
    assert normal.p_greater == pytest.approx(exact.p_greater, abs=1e-3)
    # Doubling the near tail counts up to a step more of the far one than "as unlikely as what was seen" does.
    assert exact.p_value is not None
    assert normal.p_value is not None
    assert -1e-3 <= normal.p_value - exact.p_value <= 0.12 * exact.p_value


def test_an_overwhelming_association_has_a_chance_above_zero() -> None:
    found = associate(strata(*[(5, 0, 0, 5)] * 400))
    assert found.p_value is not None
    assert 0 < found.p_value < 1e-300


def test_numbers_are_plain_floats_that_any_codec_can_write() -> None:
    found = associate(strata((3, 1, 1, 3), (1, 1, 1, 3)))
    assert {type(found.p_value), type(found.p_greater), type(found.risk_difference), type(found.odds_ratio)} == {float}
    assert found.interval is not None
    assert {type(found.interval.low), type(found.interval.high)} == {float}


def test_benjamini_hochberg_by_hand() -> None:
    # Ranks 1, 3, 2, 4 of 4: 0.01 * 4, 0.03 * 4/3, 0.02 * 2 and 0.9; each at most the next larger.
    assert benjamini_hochberg([0.01, 0.03, 0.02, 0.9]).tolist() == pytest.approx([0.04, 0.04, 0.04, 0.9])
    assert benjamini_hochberg([]).tolist() == []
    assert benjamini_hochberg([0.2]).tolist() == [0.2]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_benjamini_hochberg_is_scipys(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values))


def shown(found: list[Association]) -> npt.NDArray[np.bool_]:
    """q <= 0.05 over the report's family, and fired goes with failing."""
    q_values = benjamini_hochberg([1.0 if f.p_value is None else f.p_value for f in found])
    harmful = np.array([(f.risk_difference or 0.0) > 0 for f in found], dtype=np.bool_)
    return np.logical_and(q_values <= 0.05, harmful)


def pooled_table(fired: npt.NDArray[np.bool_], failed: npt.NDArray[np.bool_]) -> list[list[int]]:
    return [[int(np.sum(f & failed)), int(np.sum(f & ~failed))] for f in (fired, ~fired)]


def report_without_effects(seed: int, symptoms: int = 15) -> tuple[list[Association], float]:
    """50 tasks of 8; hard tasks fail and fire more, but within a task the two have nothing to do with each other."""
    rng = np.random.default_rng([30, seed])
    hardness = rng.beta(0.6, 0.6, 50)
    tasks, failed = np.repeat(np.arange(50), 8), rng.random((50, 8)) < hardness[:, None]
    found, naive = [], []
    for _ in range(symptoms):
        fired = rng.random((50, 8)) < (0.1 + 0.6 * hardness)[:, None]
        found.append(within_tasks(tasks, fired.ravel(), failed.ravel()))
        naive.append(stats.fisher_exact(pooled_table(fired, failed)).pvalue)
    return found, float(np.mean(benjamini_hochberg(naive) <= 0.05))


@pytest.mark.slow
def test_without_association_few_symptoms_are_shown() -> None:
    reports = [report_without_effects(seed) for seed in range(100)]
    single = np.mean([(f.p_value or 1.0) <= 0.05 for found, _ in reports for f in found])
    assert single <= 0.05
    assert np.mean([shown(found) for found, _ in reports]) <= 0.05
    # Family-wise: a report without any effect names a symptom in at most one of twenty.
    assert np.mean([shown(found).any() for found, _ in reports]) <= 0.05
    # Counter-example: ignoring tasks, hardness alone makes nearly every symptom significant.
    assert np.mean([naive for _, naive in reports]) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [12, 30, 100])
@pytest.mark.parametrize("varies", [False, True])
def test_limits_of_the_risk_difference_cover(tasks: int, varies: bool) -> None:
    """A difference of 0.2, the same in each task, or 0.4 in half of them; runs with 5 informative tasks or more."""
    rng = np.random.default_rng([31, tasks, varies])
    held = []
    for _ in range(1000):
        effect = np.where(rng.random(tasks) < 0.5, 0.4, 0.0) if varies else np.full(tasks, 0.2)
        base, often = 0.6 * rng.beta(0.5, 0.5, tasks), rng.beta(1, 2, tasks)
        fired = rng.random((tasks, 8)) < often[:, None]
        failed = rng.random((tasks, 8)) < base[:, None] + effect[:, None] * fired
        found = within_tasks(np.repeat(np.arange(tasks), 8), fired.ravel(), failed.ravel())
        if found.interval is not None and found.informative >= 5:
            held.append(found.interval.low <= 0.2 <= found.interval.high)
    assert len(held) > 500
    assert 0.92 <= np.mean(held) <= 0.98
