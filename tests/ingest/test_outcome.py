"""What becomes of a rollout, rule by rule."""

from pathlib import Path
from typing import Any

import pytest

from builders import load, load_rows, outcomes, places, reasons, response, result, rollout, said, without, write_jsonl

TIMEOUT = {"_ng_failure_class": "timeout_exceeded"}


def outcome_of(folder: Path, row: object) -> str:
    (outcome,) = outcomes(load_rows(folder, row))
    return outcome


@pytest.mark.parametrize(
    ("reward", "outcome"),
    [
        (1.0, "passed"),
        (1, "passed"),
        (0.9999999999999998, "passed"),
        (0.9999999, "failed"),
        (19.4, "passed"),
        (0.5, "failed"),
        (0, "failed"),
        (-100.0, "failed"),
        (True, "passed"),
        (False, "failed"),
    ],
)
def test_a_finite_reward_is_judged_against_the_threshold(tmp_path: Path, reward: object, outcome: str) -> None:
    assert outcome_of(tmp_path, rollout("a", reward=reward)) == outcome


def test_the_threshold_can_be_moved(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", reward=0.5), rollout("b", reward=0.4), pass_threshold=0.5)
    assert outcomes(run) == ["passed", "failed"]
    assert run.pass_threshold == 0.5


@pytest.mark.parametrize("reward", ["high", [1], {"value": 1}, float("nan"), float("inf"), float("-inf"), 10**400])
def test_a_reward_that_is_no_finite_number_is_unscored_and_listed(tmp_path: Path, reward: object) -> None:
    run = load_rows(tmp_path, rollout("a", passed=True), rollout("b", reward=reward))
    assert outcomes(run) == ["passed", "unscored"]
    assert run.rollouts["reward"].to_list() == [1.0, None]
    (reason,) = reasons(run)
    assert reason.startswith("run.jsonl:2: ")
    assert "not a finite number" in reason


@pytest.mark.parametrize("digits", ["1e400", "9" * 5000, "-" + "9" * 400])
def test_a_number_too_large_for_a_float_is_no_reward(tmp_path: Path, digits: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"task_id": "a", "reward": {digits}, "response": {{"output": []}}}}\n')
    (run,) = load(path)
    assert outcomes(run) == ["unscored"]


@pytest.mark.parametrize("row", [rollout("a", reward=None), without(rollout("a"), "reward")])
def test_no_reward_is_unscored_without_a_problem(tmp_path: Path, row: Any) -> None:
    run = load_rows(tmp_path, row)
    assert outcomes(run) == ["unscored"]
    assert not run.problems


def test_the_score_counts_where_there_is_no_reward(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", reward=None, score=1), without(rollout("b", score=1), "reward"))
    assert outcomes(run) == ["passed", "passed"]


@pytest.mark.parametrize("name", ["error", "error_class", "exception", "judge_error", "_ng_failure_class"])
def test_no_reward_and_an_error_field_is_errored_with_its_class(tmp_path: Path, name: str) -> None:
    row = rollout("a", reward=None) | {name: "TimeoutError: no answer\nTraceback"}
    run = load_rows(tmp_path, row)
    assert places(run, "outcome", "error_class") == [("a", 0, "errored", "TimeoutError: no answer")]


@pytest.mark.parametrize("error", [None, "", "none", False, {}, [], 0])
def test_an_error_field_that_says_nothing_is_no_error(tmp_path: Path, error: object) -> None:
    assert outcome_of(tmp_path, rollout("a", reward=None, error=error)) == "unscored"


BROKEN = [
    response([], error={"code": "server_error"}),
    response([], status="failed"),
    response([said("hello", role="user")], error={"code": "server_error"}),
    response([said("  ")], status="failed"),
    {"error": "boom"},
]


@pytest.mark.parametrize("reply", BROKEN)
@pytest.mark.parametrize("reward", [0.0, -1.0])
def test_a_broken_response_without_any_output_is_errored(tmp_path: Path, reply: object, reward: float) -> None:
    assert outcome_of(tmp_path, rollout("a", reward=reward, response=reply)) == "errored"


def test_a_broken_response_is_judged_where_the_agent_spoke_or_the_reward_is_positive(tmp_path: Path) -> None:
    error = {"code": "server_error"}
    run = load_rows(
        tmp_path,
        rollout("spoke", response=response([said("I will")], error=error)),
        rollout(
            "called", response=response([{"type": "function_call", "name": "f", "arguments": ""}], status="failed")
        ),
        rollout("half", reward=0.5, response=response([], error=error)),
        rollout("whole", reward=1, response=response([], error=error)),
    )
    assert dict(run.rollouts.select("task_id", "outcome").rows()) == {
        "spoke": "failed",
        "called": "failed",
        "half": "failed",
        "whole": "passed",
    }


def test_an_empty_error_of_the_response_is_none(tmp_path: Path) -> None:
    assert outcome_of(tmp_path, rollout("a", response=response([], error=None, status="completed"))) == "failed"


def test_text_never_changes_an_outcome(tmp_path: Path) -> None:
    items = [result("Error: the sandbox has died"), said("Error: internal server error, I cannot go on")]
    assert outcome_of(tmp_path, rollout("a", output=items)) == "failed"


def test_only_in_the_failures_file_is_errored_with_its_class(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_failures.jsonl", [rollout("a", repeat=1) | TIMEOUT])
    run = load_rows(tmp_path, rollout("a", passed=True, repeat=0))
    assert places(run, "outcome", "error_class") == [("a", 0, "passed", None), ("a", 1, "errored", "timeout_exceeded")]


def test_a_failure_that_was_tried_again_is_an_attempt(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_failures.jsonl", [rollout("a", repeat=0) | TIMEOUT] * 2)
    run = load_rows(tmp_path, rollout("a", passed=True, repeat=0, _ng_attempt_index=2))
    assert places(run, "outcome", "attempt") == [("a", 0, "passed", 2)]
    assert run.duplicates == 0
    assert any("2 failed attempts" in note for note in run.notes)


def test_of_several_failures_of_one_rollout_the_last_attempt_counts(tmp_path: Path) -> None:
    failures = [rollout("b", repeat=0) | {"_ng_failure_class": kind} for kind in ("transient", "judge_failed")]
    write_jsonl(tmp_path / "run_failures.jsonl", failures)
    run = load_rows(tmp_path, rollout("a", repeat=0))
    assert places(run, "error_class") == [("a", 0, None), ("b", 0, "judge_failed")]


def test_a_run_in_which_everything_broke_down_leaves_an_empty_file(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_failures.jsonl", [rollout("a", repeat=0) | TIMEOUT])
    assert outcomes(load_rows(tmp_path)) == ["errored"]


def test_a_failure_class_in_the_main_file_does_not_undo_a_verdict(tmp_path: Path) -> None:
    assert outcome_of(tmp_path, rollout("a", passed=True) | TIMEOUT) == "passed"


@pytest.mark.parametrize(
    "row", [{"task_id": "b"}, {"task_id": "b", "question": "?", "responses_create_params": {"input": "?"}}]
)
def test_a_row_without_verdict_or_output_is_no_rollout(tmp_path: Path, row: object) -> None:
    run = load_rows(tmp_path, rollout("a"), row)
    assert places(run) == [("a", 0)]
    assert reasons(run) == ["run.jsonl:2: no reward or score, and no response, messages or output: not a rollout"]
    assert run.problem_count == 1


@pytest.mark.parametrize(("reward", "number"), [("1.0", 1.0), ("60%", 0.6), ("3/5", 0.6), ("0", 0.0), ("7/5", None)])
def test_a_reward_may_be_written_as_a_text(tmp_path: Path, reward: str, number: float | None) -> None:
    run = load_rows(tmp_path, rollout("a", passed=True), rollout("b", reward=reward))
    assert run.rollouts["reward"].to_list() == [1.0, number]
