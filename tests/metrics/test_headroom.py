"""What mending a symptom would give, against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.core.diagnosis import Headroom
from blade.core.run import Run
from blade.metrics.headroom import Place, headroom, numbered
from builders import load, rollout, write_jsonl


def a_run(folder: Path, *tasks: str) -> Run:
    """One task for each text; `p` is a pass and `f` a failure."""
    rows = [
        rollout(f"t{place}", repeat=repeat, passed=mark == "p")
        for place, marks in enumerate(tasks)
        for repeat, mark in enumerate(marks)
    ]
    return load(write_jsonl(folder / "rollouts.jsonl", rows))[0]


def room_of(run: Run, affected: list[Place], alone: list[Place], *, estimable: bool = True) -> Headroom:
    rollouts = numbered(run)
    return headroom(rollouts, rollouts.those(affected), rollouts.those(alone), estimable=estimable)


def test_rollouts_are_found_by_their_places_each_once(tmp_path: Path) -> None:
    rollouts = numbered(a_run(tmp_path, "ff", "pp"))
    wanted = [("t1", 0), ("t0", 1), ("t1", 0)]
    unknown = [("t0", 7), ("t2", 0), ("t1", 2)]
    assert rollouts.those(wanted, unknown, ()).tolist() == [1, 2]
    assert rollouts.those(wanted).tolist() == [1, 2]
    assert rollouts.those().tolist() == []


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
