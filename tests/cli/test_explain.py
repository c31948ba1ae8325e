"""`blade explain`: one task through the command, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from builders import call, result, rollout, said, write_jsonl

ROOT = Path(__file__).parents[2]
KEY = [{"name": "cancel_order", "arguments": {"order_id": "W1"}}]


def blade(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    good = [call("get_order", '{"order_id": "W1"}', "a"), result('{"status": "pending"}', "a")]
    good += [call("cancel_order", '{"order_id": "W1"}', "b"), result("cancelled", "b"), said("It is cancelled.")]
    bad = [call("get_order", '{"order_id": "W1"}', "a"), result('{"status": "pending"}', "a")]
    bad += [said("I cannot cancel order W1, because it is too late.")]
    rows = [
        rollout("t1", repeat=0, passed=True, output=good, expected_actions=KEY),
        rollout("t1", repeat=1, output=bad, expected_actions=KEY),
        rollout("t2", repeat=0, passed=True, output=good, expected_actions=KEY),
    ]
    return write_jsonl(tmp_path / "rollouts.jsonl", rows)


def test_repeats_stand_side_by_side_and_part_with_a_quote(orders: Path) -> None:
    told = blade("explain", str(orders), "t1").stdout
    assert "Task t1: passes 1 of 2 read" in told
    assert "Expected: cancel_order(order_id=W1)" in told
    assert "no change; cancel_order was expected" in told
    assert 't1#1:2 "I cannot cancel order W1, because it is too late."' in told
    assert blade("explain", str(orders), "t1#1").stdout == told


def test_a_task_that_always_passes_is_described(orders: Path) -> None:
    assert "1 of 1 read pass" in blade("explain", str(orders), "t2").stdout


def test_an_unknown_task_is_refused_with_the_names_of_others(orders: Path) -> None:
    done = blade("explain", str(orders), "t9")
    assert done.returncode == 2
    assert "no rollout of task 't9'" in done.stderr
    assert "t1" in done.stderr
