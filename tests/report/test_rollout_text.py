"""`blade show`: all that a row says about a rollout, in the shapes that harnesses leave."""

from __future__ import annotations

import json
from pathlib import Path

import blade
from ingest.formats import run_folders as make


def shown(path: Path, location: str, **options: int) -> str:
    return blade.show(blade.load_run(path), location, **options)  # type: ignore[arg-type]


def test_a_terminal_bench_trial_is_shown_with_tests_times_and_logs(tmp_path: Path) -> None:
    text = shown(make.terminal_bench(tmp_path / "run", {"a": [False]}), "a#0")
    assert "failure_mode unset" in text
    assert "checks: 1 of 2 hold\n    FAILS  test_b\n    holds  test_a" in text
    assert "trial 2031-04-05T10:11:12+00:00 to 2031-04-05T10:21:12+00:00 (600 s)" in text
    assert "test_log 1 failed, 1 passed: a" in text
    assert "[1] AGENT calls Bash" in text


def test_a_harbor_trial_is_shown_with_its_exception_without_colors(tmp_path: Path) -> None:
    make.harbor_trial(tmp_path / "job", "c", None, error="VerifierTimeoutError")
    text = shown(tmp_path / "job", "c#0")
    assert "c#0  errored  no reward, stop VerifierTimeoutError, tokens out 10, 90 s" in text
    assert "exception_info.exception_message after 900 s" in text
    assert "test_stdout 1 failed" in text
    assert "[log] exception_txt" in text


def test_an_instance_without_a_trajectory_is_shown_with_its_log(tmp_path: Path) -> None:
    text = shown(make.swe_bench(tmp_path / "swe", {"x-1": False}), "x-1#0")
    assert "no trajectory is recorded" in text
    assert "test_output 1 test" in text


def test_the_end_of_a_log_is_kept(tmp_path: Path) -> None:
    log = "\n".join(f"line {number}" for number in range(5_000)) + "\nE   KeyError: 'the end'"
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"task_id": "t", "reward": 0, "output": "done", "stderr": log}) + "\n", "utf-8")
    assert "KeyError: 'the end'" in shown(path, "t#0")
    assert "line 2500" not in shown(path, "t#0")
    assert "line 2500" in shown(path, "t#0", width=0)


def test_every_field_is_shown_or_named(tmp_path: Path) -> None:
    row = {
        "task_id": "t",
        "reward": 0,
        "output": "done",
        "phase_of_moon": "waxing",
        "deep": {"a": {"b": {"c": {"d": {"e": 1}}}}},
        "cell\x1b[31m": "x\x1b[0m",
    }
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    text = shown(path, "t#0")
    assert "phase_of_moon waxing" in text
    assert "also in the row: deep" in text
    assert "\x1b" not in text


def test_a_row_of_a_table_is_shown_with_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("task_id,passed,model,grader note\nq1,false,m,too short\n", "utf-8")
    assert "grader note too short" in shown(path, "q1#0")


def test_who_acts_is_named(tmp_path: Path) -> None:
    talk = [{"name": "Planner", "role": "assistant", "content": "p"}, {"name": "Coder", "role": "user", "content": "c"}]
    row = {
        "task_id": "t",
        "reward": 1,
        "response": {"output": [*talk, {"name": "Checker", "role": "user", "content": "k"}]},
    }
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    text = shown(path, "t#0")
    assert [line for line in text.split("\n") if line.startswith("[")] == [
        "[0] AGENT Planner",
        "[1] AGENT Coder",
        "[2] AGENT Checker",
    ]
