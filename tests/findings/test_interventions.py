"""What to do: every kind has its remedy, ranked, told once, and what they give together adds up."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.analysis import analyze, load
from blade.model.diagnosis import Diagnosis
from blade.model.options import Options
from builders import call, result, rollout, said, write_jsonl

KEY = [{"name": "cancel_order", "arguments": {"order_id": "W1"}}]


def diagnosed(folder: Path, rows: list[dict[str, object]]) -> Diagnosis:
    path = write_jsonl(folder / "rollouts.jsonl", rows)
    found = analyze(load([str(path)], Options()), Options()).runs[0].diagnosis
    assert found is not None
    return found


def test_what_each_adds_is_what_all_give_together(tmp_path: Path) -> None:
    detect = [call("get_order", '{"order_id": "W1"}', "a"), result('{"status": "pending"}', "a")]
    good = [*detect, call("cancel_order", '{"order_id": "W1"}', "b"), result("cancelled", "b"), said("Done.")]
    idle = [*detect, said("I cannot do that.")]
    extra = [*good, call("refund_order", '{"order_id": "W1"}', "c"), result("refunded", "c"), said("Done.")]
    rows = [
        rollout(f"t{n}", repeat=r, passed=r > 1, output=(idle, extra, good, good)[r], expected_actions=KEY)
        for n in range(8)
        for r in range(4)
    ]
    found = diagnosed(tmp_path, rows)
    assert len(found.interventions) >= 2
    assert sum(one.adds for one in found.interventions) == pytest.approx(found.together.headroom.ceiling)
    assert found.together.failures + found.together.remain == 16
    assert found.together.remain == 0
    points = [one.headroom.only_defect for one in found.interventions]
    assert points == sorted(points, reverse=True)
    for one in found.interventions:
        assert one.evidence
        assert len(one.locations) == len(set(one.locations))


def test_a_doubt_about_whole_tasks_is_for_the_rollouts_that_did_not_pass(tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat=repeat, passed=repeat == 1, prompt="Add 1 and 2.", expected_answer="3")
        for task in ("t", "u")
        for repeat in range(3)
    ]
    (one,) = [one for one in diagnosed(tmp_path, rows).interventions if one.source == "DAT002"]
    assert one.task_ids == ("t", "u")
    assert one.locations == ("t#0", "t#2", "u#0", "u#2")
