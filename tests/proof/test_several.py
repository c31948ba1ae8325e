"""Boards and pairs: what changed is known, the strong pass more than the weak, and average precision is what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.comparison.values import ComparisonVerdict
from proof.score_diagnosis import analyzed, comparisons, write_files
from proof.simulate.generate import Wanted
from proof.simulate.leaderboard import MODELS, leaderboard
from proof.simulate.pairs import compared, pairs
from proof.simulate.ranking import average_precision


def test_average_precision_is_that_of_the_places_of_the_true_ones() -> None:
    assert average_precision([(3.0, True), (2.0, False), (1.0, True)]) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision([(1.0, True), (1.0, False), (1.0, False), (1.0, False)]) == 0.25
    assert average_precision([(1.0, False)]) == 0.0


def test_the_order_of_items_with_one_score_does_not_count() -> None:
    ranked = [(2.0, False), (2.0, True), (1.0, False), (1.0, True)]
    assert average_precision(ranked) == average_precision(ranked[::-1])


@pytest.mark.parametrize("world", ["single", "tools", "code", "terminal"])
def test_the_strong_pass_more_and_all_fail_what_is_broken(world: str) -> None:
    (made,) = leaderboard(Wanted(world=world, tasks=80, seed=2))
    runs = [made.truth.runs[model] for model in MODELS]
    passes = [sum(one.mode is None for one in run.rollouts) for run in runs]
    assert passes == sorted(passes)
    broken = {task for task, one in runs[0].tasks.items() if not one.clean}
    assert 3 <= len(broken) <= 20
    assert all({task for task, one in run.tasks.items() if not one.clean} == broken for run in runs)
    hard = [task for task in runs[0].tasks if all(run.tasks[task].clean for run in runs)]
    solved = {task for run in runs for task in hard if any(r.task == task and r.mode is None for r in run.rollouts)}
    assert len(solved) < len(hard), "some sound tasks are passed by no model"


def test_pairs_come_in_both_kinds_and_change_what_they_say() -> None:
    found = pairs(Wanted(world="code", tasks=60, seed=3), 3)
    assert [pair.mechanism is None for pair in found] == [True, False] * 3
    for pair in found:
        rates = []
        for made in (pair.baseline, pair.candidate):
            (run,) = made.truth.runs.values()
            rates.append(sum(one.mode is None for one in run.rollouts) / len(run.rollouts))
        assert rates[1] - rates[0] == pytest.approx(pair.change, abs=0.1)
        assert (pair.change == 0.0) == (pair.mechanism is None)


def test_a_run_beside_itself_is_no_change_and_its_ledger_sums(tmp_path: Path) -> None:
    from blade.comparison.compare import compare_analyzed

    pair = pairs(Wanted(world="code", tasks=30, seed=3, names="documented"), 1)[0]
    write_files(pair.baseline.files, tmp_path)
    (one,) = analyzed(tmp_path).runs
    found = compared([(pair, compare_analyzed(one, one))])
    assert (found.called_without_change.hits, found.called_without_change.n) == (0, 1)
    assert (found.sums.hits, found.sums.n) == (1, 1)
    assert found.called_rightly.n == 0


@pytest.mark.slow
def test_changes_are_called_and_nothing_is_called_a_change() -> None:
    found = comparisons(Wanted(tasks=60, seed=4, names="documented"), 2).compared
    assert found.called_without_change.hits <= 1
    assert found.called_against.hits == 0
    assert (found.called_rightly.value or 0.0) >= 0.7
    assert found.sums.hits == found.sums.n
    assert ComparisonVerdict.NOT_COMPARABLE not in found.terms
