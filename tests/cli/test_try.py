"""`blade try`: a rule as a one-off, on files, on earlier analyses and from Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import blade
from builders import call, result, rollout, said, write_jsonl

ROOT = Path(__file__).parents[2]


def run_blade(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    detect = [call("get_order", '{"id": 1}', "a"), result("pending", "a")]
    act = [call("cancel_order", '{"id": 1}', "b"), result("ok", "b"), said("Cancelled.")]
    rows = [
        rollout(f"t{task}", repeat=repeat, passed=repeat > 0, output=act if repeat == 0 else detect + act)
        for task in range(8)
        for repeat in range(3)
    ]
    rows.append(rollout("t8", repeat=0, passed=True, output=act))
    return write_jsonl(tmp_path / "rollouts.jsonl", rows)


def test_counts_grade_and_places(shop: Path) -> None:
    told = run_blade("try", str(shop), "call cancel_order[not earlier call get_order]").stdout
    assert "holds in 9 of 25 rollouts (9 tasks)" in told
    assert "fails 8 of 9 where it holds, 0 of 16 where it does not" in told
    assert "statistically supported: within a task +100 points of failing" in told
    assert 't0#0:0 failed "{"id": 1}"' in told
    assert "t8#0:0 passed" in told
    assert told.count("#0:0 ") == 5


def test_json_python_and_an_earlier_analysis_say_the_same(shop: Path, tmp_path: Path) -> None:
    rule = "not call get_order"
    (from_file,) = json.loads(run_blade("try", str(shop), rule, "--json").stdout)
    assert run_blade("analyze", str(shop), "-o", str(tmp_path / "out")).returncode == 0
    (from_analysis,) = json.loads(run_blade("try", str(tmp_path / "out"), rule, "--json").stdout)
    found = blade.try_rule(blade.load_run(shop), rule)
    assert from_file == from_analysis
    assert (found.fired, found.fired_failed, found.fired_passed) == (
        from_file["fired"],
        from_file["fired_failed"],
        from_file["fired_passed"],
    )


def test_a_bad_rule_is_refused_before_anything_is_read() -> None:
    done = run_blade("try", "nowhere.jsonl", "call x[")
    assert done.returncode == 2
    assert done.stderr.splitlines()[:3] == ["error: 'the end' stands where a value should", "  call x[", "         ^"]


def test_a_slip_of_the_pen_is_noted(shop: Path) -> None:
    told = run_blade("try", str(shop), "call cancel_ordr or row.dificulty = 1").stdout
    assert "holds in 0 of 25" in told
    assert "no rollout calls a tool named cancel_ordr; tools are cancel_order" in told
    assert "no row has a field dificulty" in told


def test_a_rule_over_the_verdict_gets_no_grade(shop: Path) -> None:
    told = run_blade("try", str(shop), "reward < 0.5").stdout
    assert "no grade: the rule reads the verdict or the key" in told
