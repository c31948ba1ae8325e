"""One rollout against what was due: for every kind of difference a row that must have it and rows that must not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.evidence.differences import MOST, differences
from blade.model.finding import Difference, Differs
from builders import Row, call, response, result, rollout, said, write_jsonl


def seen(folder: Path, row: Row) -> tuple[Difference, ...]:
    """The differences of a row that a harness wrote, as the run table keeps them and as a second reading finds them."""
    run = blade.load_run(write_jsonl(folder / "run.jsonl", [row]))
    (task, repeat, kept) = run.rollouts.select("task_id", "repeat", "differs").row(0)
    found = differences(run[task, repeat])
    assert [(one["kind"], one["name"], one["detail"], one["step"]) for one in kept or ()] == [
        (one.kind, one.name, one.detail, one.step) for one in found
    ]
    return found


def named(folder: Path, row: Row, kind: Differs) -> list[tuple[str, str, int | None]]:
    """Name, detail and step of the differences of one kind."""
    return [(one.name, one.detail, one.step) for one in seen(folder, row) if one.kind == kind]


def failed(*, output: object = None, **more: Any) -> Row:
    return rollout("t", output=output, **more)


def acted(*calls_: tuple[str, Row], **more: Any) -> Row:
    """A failed rollout that makes these calls, all of them answered."""
    items: list[Row] = []
    for place, (tool, arguments) in enumerate(calls_):
        items += [call(tool, json.dumps(arguments), f"c{place}"), result("ok", f"c{place}")]
    return failed(output=[*items, said("done")], **more)


def want(tool: str, **arguments: object) -> Row:
    return {"name": tool, "kwargs": arguments}


OFFERS = {"input": "x", "tools": [{"name": "get", "parameters": {"properties": {"id": {"type": "string"}}}}]}

REPORT: list[tuple[Differs, Row, list[tuple[str, str, int | None]]]] = [
    (Differs.ERROR, failed(error="APIConnectionError: connection reset"), [("error", "APIConnectionError: connection reset", None)]),
    (Differs.ERROR, failed(info={"sandbox_error": "container was killed"}), [("info.sandbox_error", "container was killed", None)]),
    (Differs.NO_RECORD, failed(reward_info=None), [("reward_info", "", None)]),
    (Differs.NO_RECORD, failed(judge_error="no reply"), [("judge_error", "no reply", None)]),
    (Differs.CUT, failed(stop_reason="max_steps"), [("steps", "stop", None)]),
    (Differs.CUT, failed(exit_status="LimitsExceeded"), [("steps", "exit_status", None)]),
    (Differs.CUT, failed(response=response("x", incomplete_details={"reason": "max_output_tokens"})), [("tokens", "stop", None)]),
    (Differs.CUT, failed(agent_timed_out=True), [("time", "agent_timed_out", None)]),
    (Differs.CUT, failed(iteration_limit_exceeded=True), [("steps", "iteration_limit_exceeded", None)]),
    (Differs.CUT, failed(error="RuntimeError: Agent reached maximum iteration. Current iteration: 100"), [("steps", "error", None)]),
    (Differs.CUT, failed(stop_reason="task limit reached"), [("steps", "stop", None)]),
    (Differs.CUT, failed(output="def f(): ...", pred="def f(): ...", error="TimeoutException()"), [("program", "tests", None)]),
    (Differs.NO_ANSWER, failed(output=""), [("output", "", None)]),
    (Differs.NO_ANSWER, failed(extracted_answer=None, expected_answer="4"), [("answer", "", None)]),
    (Differs.NO_ANSWER, failed(extracted_answer=" ", expected_answer="4"), [("answer", "", None)]),
    (Differs.NO_ANSWER, failed(verdict="not_attempted"), [("declined", "", None)]),
    (Differs.NOT_MADE, failed(expected_actions=[want("cancel", id="A1")]), [("cancel", "", None)]),
    (Differs.NOT_MADE, acted(("get_order", {}), expected_actions=[want("cancel", id="A1"), want("cancel", id="A2")]), [("cancel", "", None)]),
    (Differs.UNWANTED, acted(("get_order", {}), ("cancel", {"id": "A1"}), expected_actions=[]), [("cancel", "", 2)]),
    (Differs.UNWANTED, acted(("cancel", {}), expected_actions=[want("get_order")]), [("cancel", "", 0)]),
    (Differs.MISSING, acted(("cancel", {"id": "A1"}), expected_actions=[want("cancel", id="A1"), want("refund", id="A1")]), [("refund", "", None)]),
    (Differs.EXTRA, acted(("cancel", {"id": "A1"}), ("pay", {"n": 1}), expected_actions=[want("cancel", id="A1")]), [("pay", "", 2)]),
    (Differs.ARGUMENT, acted(("set", {"a": 1, "b": 9}), expected_actions=[want("set", a=1, b=2)]), [("set", "b", 0)]),
    (Differs.ARGUMENT, acted(("set", {"a": 1, "b": 2, "c": 3}), expected_actions=[want("set", a=1, b=2)]), [("set", "c", 0)]),
    (Differs.LOOKUP, acted(("cancel", {}), expected_actions=[want("get_order", id="A1"), want("cancel")]), [("get_order", "", None)]),
    (Differs.REFUSED, acted(("get", {"id": 7}), responses_create_params=OFFERS), [("get", "id", 0)]),
    (Differs.NOT_SAID, failed(output="It costs 30.", expected_actions=[], expected_outputs=["1,327", "30"]), [("1,327", "", None)]),
    (Differs.CHECK, failed(checks=[{"name": "has title", "passed": False}, {"name": "short", "passed": True}]), [("has title", "", None)]),
    (Differs.CHECK, failed(checks=[{"name": "sum", "passed": False, "reason": "found 17 rows"}]), [("sum", "found <n> rows", None)]),
    (Differs.ANSWER, failed(extracted_answer="5", expected_answer="4"), [("different", "", None)]),
    (Differs.ANSWER, failed(extracted_answer="4", expected_answer="4"), [("equal", "", None)]),
    (Differs.ANSWER, failed(extracted_answer=None, expected_answer="4", output="So \\boxed{4}"), [("not extracted", "", None)]),
    (Differs.ANSWER, failed(extracted_answer="Obama", expected_answer="Barack Obama"), [("absent", "", None)]),
    (Differs.SAID, failed(failure_reason="the table has no column `price`"), [("failure_reason", "the table has no column <text>", None)]),
    (Differs.SAID, failed(exit_code=3), [("exit_code", "exit_code 3", None)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "row", "expected"), REPORT, ids=[f"{n}-{kind}" for n, (kind, *_) in enumerate(REPORT)]
)
def test_must(tmp_path: Path, kind: Differs, row: Row, expected: list[tuple[str, str, int | None]]) -> None:
    assert named(tmp_path, row, kind) == expected


def test_every_kind_has_a_case_that_must_and_one_that_must_not() -> None:
    assert {kind for kind, *_ in REPORT} == set(Differs)
    assert {kind for kind, _ in QUIET} == set(Differs)


QUIET: list[tuple[Differs, Row]] = [
    (Differs.REFUSED, acted(("get", {"id": "7"}), ("other", {"id": 7}), responses_create_params=OFFERS)),
    (Differs.ERROR, failed(error="ValueError: x is not a number")),
    (Differs.ERROR, failed(error="IndexError('list index out of range')")),
    (Differs.ERROR, failed(error=None)),
    (Differs.ERROR, failed(failure_reason="the answer is wrong")),
    (Differs.ERROR, failed(note="connection refused")),
    (Differs.NO_RECORD, failed(reward_info={"reward": 0.0})),
    (Differs.NO_RECORD, failed(judge_error="")),
    (Differs.NO_RECORD, failed(judge_error=None)),
    (Differs.CUT, failed(stop_reason="stop")),
    (Differs.CUT, failed(stop_reason="rate limit exceeded")),
    (Differs.CUT, failed(agent_timed_out=False)),
    (Differs.CUT, failed(eval_timed_out=True)),
    (Differs.NO_ANSWER, failed(output="I give up")),
    (Differs.NO_ANSWER, acted(("get_order", {}))),
    (Differs.NO_ANSWER, failed(extracted_answer="5", expected_answer="4")),
    (Differs.NO_ANSWER, failed(expected_answer="4")),
    (Differs.NOT_MADE, acted(("pay", {}), expected_actions=[want("cancel")])),
    (Differs.NOT_MADE, failed(expected_actions=[want("get_order")])),
    (Differs.UNWANTED, acted(("get_order", {}), expected_actions=[])),
    (Differs.UNWANTED, acted(("cancel", {}), expected_actions=[want("cancel")])),
    (Differs.UNWANTED, failed(output=[call("cancel"), result("Error: no"), said("x")], expected_actions=[])),
    (Differs.MISSING, failed(expected_actions=[want("cancel")])),
    (Differs.MISSING, acted(("cancel", {}), ("pay", {}), expected_actions=[want("cancel")])),
    (Differs.EXTRA, acted(("cancel", {}), ("get_order", {}), expected_actions=[want("cancel")])),
    (Differs.EXTRA, acted(("cancel", {}), expected_actions=[])),
    (Differs.ARGUMENT, acted(("set", {"a": 1.0, "b": ["y", "x"], "c": ""}), expected_actions=[want("set", a=1, b=["x", "y"])])),
    (Differs.ARGUMENT, acted(("get_order", {"id": "B"}), expected_actions=[want("get_order", id="A")])),
    (Differs.LOOKUP, acted(("get_order", {"id": "A"}), expected_actions=[want("get_order", id="A")])),
    (Differs.NOT_SAID, failed(output="It costs 1327 in all.", expected_actions=[], expected_outputs=["1,327"])),
    (Differs.NOT_SAID, failed(output="x", expected_actions=[], expected_outputs=[""])),
    (Differs.CHECK, failed(checks=[{"name": "has title", "passed": True}])),
    (Differs.CHECK, failed(checks=[{"name": "has title", "passed": "perhaps"}])),
    (Differs.ANSWER, failed(extracted_answer="an essay", expected_answer="A rubric in many words. " * 20)),
    (Differs.ANSWER, failed(extracted_answer="5")),
    (Differs.ANSWER, failed(output="x", expected_actions=[want("cancel")], expected_answer="4")),
    (Differs.SAID, failed(status="failed" * 0)),
    (Differs.SAID, failed(status="ok")),
    (Differs.SAID, failed(is_correct=False)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "row"), QUIET, ids=[f"{n}-{kind}" for n, (kind, _) in enumerate(QUIET)])
def test_must_not(tmp_path: Path, kind: Differs, row: Row) -> None:
    assert named(tmp_path, row, kind) == []


def test_a_refused_call_was_not_made(tmp_path: Path) -> None:
    row = failed(output=[call("cancel"), result("Error: not yours"), said("x")], expected_actions=[want("cancel")])
    assert named(tmp_path, row, Differs.NOT_MADE) == [("cancel", "", None)]


def test_an_exit_code_is_quoted_only_where_nothing_else_speaks(tmp_path: Path) -> None:
    row = failed(exit_code=1, stderr="cannot open shared object")
    assert [name for name, *_ in named(tmp_path, row, Differs.SAID)] == ["stderr"]


def test_keys_are_read_under_any_of_their_names(tmp_path: Path) -> None:
    wanted = [{"name": "cancel", "arguments": '{"id": "A1"}'}]
    for name in ("expected_actions", "ground_truth", "reference_calls"):
        row = acted(("cancel", {"id": "A2"})) | {name: wanted}
        assert named(tmp_path, row, Differs.ARGUMENT) == [("cancel", "id", 0)]
    row = acted(("cancel", {"id": "A2"}), evaluation_criteria={"actions": wanted})
    assert named(tmp_path, row, Differs.ARGUMENT) == [("cancel", "id", 0)]


@pytest.mark.parametrize(
    "row",
    [
        acted(("pay", {"n": 1}), expected_actions=[]),
        failed(checks=[{"name": "a", "passed": False}, {"name": "b", "passed": True}]),
        failed(failure_reason="two words"),
        failed(extracted_answer=None, expected_answer="4", output="") | {"reward_info": None},
        failed(stop_reason="max_steps"),
    ],
)
def test_a_passing_rollout_is_compared_as_well(tmp_path: Path, row: Row) -> None:
    found = seen(tmp_path, row | {"reward": 1.0})
    assert found == tuple(one for one in seen(tmp_path, row) if one.kind != Differs.ANSWER) != ()


def test_long_words_of_a_passing_rollout_are_not_read(tmp_path: Path) -> None:
    row = failed(failure_reason="word " * 60)
    assert named(tmp_path, row | {"reward": 1.0}, Differs.SAID) == []
    assert len(named(tmp_path, row, Differs.SAID)) == 1


def test_an_accepted_answer_that_equals_the_key_is_no_difference(tmp_path: Path) -> None:
    assert seen(tmp_path, failed(extracted_answer="4", expected_answer="4") | {"reward": 1.0}) == ()


@pytest.mark.parametrize("more", [{"reward": None}, {"reward": None, "error": "sandbox died"}, {"reward": "high"}])
def test_rollouts_that_were_not_judged_differ_in_nothing(tmp_path: Path, more: Row) -> None:
    row = acted(("pay", {}), expected_actions=[], checks=[{"name": "a", "passed": False}]) | more
    assert seen(tmp_path, row) == ()


def test_without_a_key_or_an_account_nothing_differs(tmp_path: Path) -> None:
    assert seen(tmp_path, acted(("pay", {"n": 1}))) == ()


def test_a_row_without_a_trajectory_is_compared_by_what_it_has(tmp_path: Path) -> None:
    row = {
        "task_id": "t",
        "reward": 0.0,
        "expected_actions": [want("cancel")],
        "checks": [{"name": "a", "passed": False}],
    }
    assert [(one.kind, one.name) for one in seen(tmp_path, row)] == [("check", "a")]


def test_no_more_than_a_bounded_number_is_kept_and_each_once(tmp_path: Path) -> None:
    many = acted(*(("pay", {"n": n}) for n in range(40)), expected_actions=[])
    assert len(seen(tmp_path, many)) == MOST
    twice = failed(checks=[{"name": "a", "passed": False}] * 3 + [{"name": "b", "passed": True}] * 3)
    assert named(tmp_path, twice, Differs.CHECK) == [("a", "", None)]


@pytest.mark.parametrize(
    "row",
    [
        failed(error="ValueError: no such room"),
        failed(failure_reason="expected 500 rows, found 499"),
        failed(failure_reason="the provider of the insurance is not named"),
    ],
)
def test_words_about_the_task_are_no_machinery(tmp_path: Path, row: Row) -> None:
    assert named(tmp_path, row, Differs.ERROR) == []


@pytest.mark.parametrize("key", [{"name": "Alice", "age": 30}, [{"name": "Alice", "age": 30}]])
def test_a_key_that_is_a_record_with_a_name_is_no_call(tmp_path: Path, key: object) -> None:
    assert named(tmp_path, failed(output='{"name": "Bob", "age": 30}', ground_truth=key), Differs.NOT_MADE) == []


def test_a_statement_that_is_null_need_not_be_said(tmp_path: Path) -> None:
    assert named(tmp_path, failed(expected_actions=[], expected_outputs=[None]), Differs.NOT_SAID) == []
