"""What mending a symptom would give, against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.model.diagnosis import Headroom
from blade.model.run import Run
from blade.stats.headroom import headroom
from blade.stats.rollout_index import Ref, index_rollouts
from builders import load, rollout, write_jsonl


def a_run(folder: Path, *tasks: str) -> Run:
    """One task for each text; `p` is a pass and `f` a failure."""
    rows = [
        rollout(f"t{place}", repeat=repeat, passed=mark == "p")
        for place, marks in enumerate(tasks)
        for repeat, mark in enumerate(marks)
    ]
    return load(write_jsonl(folder / "rollouts.jsonl", rows))[0]


def room_of(run: Run, affected: list[Ref], alone: list[Ref], *, estimable: bool = True) -> Headroom:
    rollouts = index_rollouts(run)
    return headroom(
        rollouts, rollouts.those(rollouts.at(affected)), rollouts.those(rollouts.at(alone)), estimable=estimable
    )


def test_affected_rollouts_take_the_mean_of_their_tasks_others(tmp_path: Path) -> None:
    run = a_run(tmp_path, "ffpf", *["pppp"] * 9)
    room = room_of(run, [("t0", 0), ("t0", 1)], [("t0", 0)])
    assert room.estimate == pytest.approx(0.025)
    assert room.ceiling == pytest.approx(0.05)
    assert room.only_defect == pytest.approx(0.025)
    assert room.unreached_tasks == 0
    assert room.interval is not None
    assert room.estimate is not None
    assert room.interval.low < room.estimate < room.interval.high


def test_affected_passes_count_against_it(tmp_path: Path) -> None:
    run = a_run(tmp_path, "pfff", "pppp")
    room = room_of(run, [("t0", 0), ("t0", 1)], [])
    assert room.estimate == pytest.approx((2 * 0 - 1) / 4 / 2)
    assert room.ceiling == pytest.approx(1 / 4 / 2)


def test_a_task_without_unaffected_rollouts_keeps_its_score(tmp_path: Path) -> None:
    run = a_run(tmp_path, "ff", "pp")
    room = room_of(run, [("t0", 0), ("t0", 1)], [])
    assert room.estimate is None
    assert room.reason == "no task has rollouts with it and rollouts without"
    assert room.unreached_tasks == 1
    assert room.ceiling == pytest.approx(0.5)


def test_what_is_read_from_the_verdict_has_no_estimate(tmp_path: Path) -> None:
    room = room_of(a_run(tmp_path, "fp", "pp"), [("t0", 0)], [("t0", 0)], estimable=False)
    assert (room.estimate, room.reason) == (None, "read from the verdict")
    assert room.only_defect == pytest.approx(0.25)


def with_rewards(folder: Path, *tasks: list[float | None]) -> Run:
    """One task for each list of rewards; None is a rollout without a verdict."""
    rows = [
        rollout(f"t{place}", repeat=repeat, reward=reward)
        for place, rewards in enumerate(tasks)
        for repeat, reward in enumerate(rewards)
    ]
    return load(write_jsonl(folder / "rollouts.jsonl", rows))[0]


def test_partial_credit_that_is_had_cannot_be_gained(tmp_path: Path) -> None:
    run = with_rewards(tmp_path, [0.0], [0.875], [0.75], [1.0], [0.0])
    lost = [("t0", 0), ("t1", 0), ("t2", 0), ("t4", 0)]
    room = room_of(run, lost, lost)
    assert (room.only_defect, room.ceiling) == pytest.approx((0.475, 0.475))
    assert room.in_points


def test_affected_rollouts_take_the_mean_reward_of_their_tasks_others(tmp_path: Path) -> None:
    run = with_rewards(tmp_path, [0.25, 0.5, 0.75, None], [0.5] * 4)
    room = room_of(run, [("t0", 0), ("t0", 3)], [("t0", 0)])
    # The others of t0 have 0.625 on average; the affected have 0.25 and, without a verdict, 0.
    assert room.estimate == pytest.approx((2 * 0.625 - 0.25) / 4 / 2)
    assert room.only_defect == pytest.approx(0.75 / 4 / 2)
    assert room.ceiling == pytest.approx((0.75 + 1) / 4 / 2)


def test_rewards_with_a_scale_of_their_own_are_mended_to_the_highest_seen(tmp_path: Path) -> None:
    run = with_rewards(tmp_path, [10.0, 4.0, 0.5, -2.0], [10.0, 7.0, 3.0, None])
    room = room_of(run, [("t0", 2), ("t0", 3), ("t1", 3)], [("t0", 2)])
    assert room.only_defect == pytest.approx(9.5 / 4 / 2)
    assert room.ceiling == pytest.approx((9.5 + 12 + 12) / 4 / 2)
    assert not room.in_points
