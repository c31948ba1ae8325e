"""Rollouts by their rows: named in their order, cut to tasks, counted in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blade.evidence.context import Refs, at, marked, none, spread
from blade.stats.rollout_index import RolloutIndex, index_rollouts
from builders import load, rollout, write_jsonl


@pytest.fixture
def rollouts(tmp_path: Path) -> RolloutIndex:
    """t0 to t10 with two repeats each; the second ones fail. In natural order, which is not that of ids."""
    rows = [rollout(f"t{task}", repeat=repeat, passed=not repeat) for task in range(11) for repeat in range(2)]
    return index_rollouts(load(write_jsonl(tmp_path / "rollouts.jsonl", rows))[0])


def test_places_are_named_in_their_order(rollouts: RolloutIndex) -> None:
    places = at(rollouts, [("t10", 1), ("t2", 0), ("t10", 0), ("t2", 1), ("gone", 0)])
    assert list(places) == [("t10", 1), ("t2", 0), ("t10", 0), ("t2", 1)]
    assert places.named() == ("t10#1", "t2#0", "t10#0", "t2#1")
    assert places.named(2) == ("t10#1", "t2#0")
    assert places.tasks == ("t10", "t2")
    assert places.in_words == "4 rollouts in 2 tasks"


def test_what_is_marked_comes_in_the_order_of_the_table(rollouts: RolloutIndex) -> None:
    failing = marked(rollouts, rollouts.failed)
    assert len(failing) == 11
    assert failing.tasks == tuple(f"t{task}" for task in range(11))
    assert failing.within({"t3", "t10", "gone"}).named() == ("t3#1", "t10#1")


def test_some_are_left_out_and_the_others_keep_their_order(rollouts: RolloutIndex) -> None:
    places = Refs(of=rollouts, rows=np.array([21, 3, 2]))
    first = rollouts.marked(np.array([2, 21]))
    assert places.only(first).rows.tolist() == [21, 2]
    assert places.less(first).rows.tolist() == [3]
    assert places.less(rollouts.failed).named() == ("t1#0",)


def test_no_rollout(rollouts: RolloutIndex) -> None:
    nothing = none(rollouts)
    assert not nothing
    assert (list(nothing), nothing.tasks, nothing.named()) == ([], (), ())
    assert nothing.in_words == "0 rollouts in 0 tasks"


def test_a_few_that_were_named_are_spread_over_their_tasks() -> None:
    assert spread([("a", 0)]) == "1 rollout in 1 task"
    assert spread([("a", 0), ("b", 0), ("a", 1)]) == "3 rollouts in 2 tasks"
