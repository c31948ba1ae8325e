"""The rollouts of a run by number: where places stand, which tasks they are of, where rules fired."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from blade.model.run import Run
from blade.stats.rollout_index import RolloutIndex, index_rollouts
from builders import load, rollout, write_jsonl


def a_run(folder: Path, *tasks: str) -> Run:
    """One task for each text, `t0` and on; `p` is a pass, `f` a failure and `e` a rollout without a verdict."""
    rows = [
        rollout(f"t{place}", repeat=repeat, reward={"p": 1.0, "f": 0.0}.get(mark))
        for place, marks in enumerate(tasks)
        for repeat, mark in enumerate(marks)
    ]
    return load(write_jsonl(folder / "rollouts.jsonl", rows))[0]


@pytest.fixture
def twelve(tmp_path: Path) -> RolloutIndex:
    """t0 to t11 in natural order, which is not the order of ids."""
    return index_rollouts(a_run(tmp_path, "ff", "pp", *["p"] * 9, "fpe"))


def test_tasks_are_numbered_in_the_order_of_ids(twelve: RolloutIndex) -> None:
    ids = twelve.run.rollouts["task_id"].to_list()
    assert ids[-3:] == ["t11"] * 3
    assert twelve.task.tolist() == [sorted(set(ids)).index(one) for one in ids]
    assert twelve.sizes.tolist() == [ids.count(one) for one in sorted(set(ids))]


def test_rollouts_are_found_by_their_places_in_the_order_asked_for(twelve: RolloutIndex) -> None:
    wanted = [("t11", 1), ("t1", 0), ("t0", 1), ("t1", 0)]
    unknown = [("t0", 7), ("t99", 0), ("t1", -1)]
    assert twelve.at([*wanted, *unknown]).tolist() == [14, 2, 1, 2]
    assert twelve.at(unknown).tolist() == []
    assert twelve.at([]).tolist() == []


def test_rows_of_several_are_told_once_in_the_order_of_the_table(twelve: RolloutIndex) -> None:
    assert twelve.those(twelve.at([("t1", 0), ("t0", 1)]), twelve.at([("t0", 1), ("t11", 0)])).tolist() == [1, 2, 13]
    assert twelve.those().tolist() == []


def test_rollouts_of_a_task_are_found_where_they_do_not_stand_together(tmp_path: Path) -> None:
    run = a_run(tmp_path, "fp", "pf")
    mixed = index_rollouts(replace(run, rollouts=run.rollouts[[0, 2, 1, 3]]))
    assert mixed.task.tolist() == [0, 1, 0, 1]
    assert mixed.of_tasks(["t1", "t7"]).tolist() == [False, True, False, True]
    assert mixed.at([("t0", 1), ("t1", 1)]).tolist() == [2, 3]


def test_outcomes(twelve: RolloutIndex) -> None:
    assert twelve.failed.tolist() == [True, True, *[False] * 11, True, False, False]
    assert twelve.judged.tolist() == [*[True] * 15, False]
    assert twelve.judged_per_task.tolist() == [2, 2, 1, 2, *[1] * 8]


def test_a_rule_that_fires_twice_in_a_rollout_is_there_once(tmp_path: Path) -> None:
    run = a_run(tmp_path, "ff", "pp")
    hit = {"code": "BEH001", "step": 1, "field": "text", "start": 0, "length": 1}
    hits = [[{**hit, "code": "ANS001"}, hit, hit], None, [], [hit]]
    fired = pl.Series("fired", hits, dtype=run.rollouts.schema["fired"])
    found = index_rollouts(replace(run, rollouts=run.rollouts.with_columns(fired))).fired
    assert {code: rows.tolist() for code, rows in found.items()} == {"BEH001": [0, 3], "ANS001": [0]}
