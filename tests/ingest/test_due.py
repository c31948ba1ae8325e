"""What was due, read from the shapes in which keys, statements, scripts and the verifier's words come."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blade import analysis as pipeline
from blade.ingest.decode import decode_row
from blade.ingest.expected import KnownDue, due_calls, key_expects, read_due
from blade.model.expected import NOTHING_DUE, Due
from blade.model.options import Options
from blade.report.sections import report
from builders import Row, call, result, rollout, said, write_bytes, write_jsonl

Wanted = tuple[str, dict[str, object]]


def due(**fields: Any) -> Due:
    """What a row with these fields says was due."""
    row, _ = decode_row(json.dumps({"reward": 0.0, **fields}).encode())
    return read_due(row)


def calls(value: object) -> list[Wanted] | None:
    found = due_calls(value)
    return None if found is None else [(one.tool, one.arguments) for one in found]


ONE: list[Wanted] = [("cancel", {"id": "A1"})]


@pytest.mark.parametrize(
    "value",
    [
        [{"name": "cancel", "arguments": {"id": "A1"}}],
        [{"name": "cancel", "arguments": '{"id": "A1"}'}],
        [{"name": "cancel", "kwargs": {"id": "A1"}}],
        [{"name": "cancel", "args": {"id": "A1"}}],
        [{"name": "cancel", "parameters": {"id": "A1"}}],
        [{"name": "cancel", "input": {"id": "A1"}}],
        [{"tool": "cancel", "arguments": {"id": "A1"}}],
        [{"tool_name": "cancel", "arguments": {"id": "A1"}}],
        [{"function": "cancel", "arguments": {"id": "A1"}}],
        [{"function": {"name": "cancel", "arguments": '{"id": "A1"}'}}],
        [{"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": {"id": "A1"}}}],
        [{"name": "cancel", "arguments": None, "kwargs": {"id": "A1"}}],
        {"name": "cancel", "arguments": {"id": "A1"}},
        [[{"name": "cancel", "arguments": {"id": "A1"}}]],
        [{"name": "cancel", "arguments": {"id": "A1"}, "requestor": "assistant"}],
        [{"name": "cancel", "arguments": {"id": "A1"}, "requestor": None}],
        [{"name": "toggle_data", "arguments": {}, "requestor": "user"}, {"name": "cancel", "arguments": {"id": "A1"}}],
    ],
)
def test_one_call_in_every_shape(value: object) -> None:
    assert calls(value) == ONE


def test_turns_are_read_in_order() -> None:
    turns = [[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}], [], [{"name": "c"}], {"name": "d"}]
    assert calls(turns) == [("a", {}), ("b", {}), ("c", {}), ("d", {})]


@pytest.mark.parametrize("value", [[], [[]], [[], []], [{"name": "toggle", "requestor": "user"}]])
def test_a_key_that_wants_nothing(value: object) -> None:
    assert calls(value) == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "cancel",
        5,
        True,
        {},
        ["a"],
        [1],
        [None],
        [{}],
        [{"name": 5}],
        [{"name": "f"}, "g"],
        [{"function": {}}],
    ],
)
def test_a_key_that_is_no_list_of_calls(value: object) -> None:
    assert calls(value) is None


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("not JSON", {"": "not JSON"}),
        ("[1]", {}),
        ("null", {}),
        (5, {}),
        ([1], {}),
        ("[" * 100_000, {"": "[" * 100_000}),
        ({"a": {"b": [None]}}, {"a": {"b": [None]}}),
    ],
    ids=lambda value: str(value)[:12],
)
def test_arguments_of_any_kind(arguments: object, read: dict[str, object]) -> None:
    assert calls([{"name": "f", "arguments": arguments}]) == [("f", read)]


def test_compared_arguments() -> None:
    (all_, none, one, odd) = (
        due_calls(
            [
                {"name": "f", "arguments": {}},
                {"name": "f", "arguments": {}, "compare_args": []},
                {"name": "f", "arguments": {}, "compare_args": ["id"]},
                {"name": "f", "arguments": {}, "compare_args": "id"},
            ]
        )
        or (None,) * 4
    )
    assert [one and one.compared for one in (all_, none, one, odd)] == [None, (), ("id",), None]


KEY = [{"name": "cancel", "arguments": {"id": "A1"}}]


@pytest.mark.parametrize(
    "fields",
    [
        {"expected_actions": KEY},
        {"expected_action": KEY[0]},
        {"ground_truth": KEY},
        {"reference_calls": KEY},
        {"evaluation_criteria": {"actions": KEY}},
        {"task": {"evaluation_criteria": {"actions": KEY}}},
        {"verifier_metadata": {"ground_truth": KEY}},
        {"expected_actions": "none", "ground_truth": KEY},
        {"expected_actions": None, "ground_truth": KEY},
    ],
)
def test_where_a_key_of_calls_stands(fields: Row) -> None:
    found = due(**fields)
    assert [(one.tool, one.arguments) for one in found.calls or ()] == ONE
    assert found.answer is None


def test_the_answer_of_a_key_that_is_no_list_of_calls() -> None:
    assert due(expected_answer="4").answer == "4"
    assert due(ground_truth=[1, 2]).answer == "[1,2]"
    assert due(ground_truth={"a": 1}).answer == '{"a":1}'
    assert due(ground_truth=[]).answer is None
    assert due(expected_answer="4", ground_truth=KEY).answer == "4"
    assert due(question="?").answer is None


def test_whether_the_row_has_a_field_for_the_answer() -> None:
    assert due(expected_answer="4", extracted_answer=None).extracts
    assert not due(expected_answer="4").extracts
    assert not due(answer="4").extracts
    assert due(metadata={"model_patch": ""}).extracts
    assert not due(metadata={"exit_status": "Submitted"}).extracts


def test_statements_that_are_due() -> None:
    assert due(expected_outputs=["327", 42]).statements == ("327", "42")
    assert due(evaluation_criteria={"communicate_info": ["x"]}).statements == ("x",)
    assert due(expected_outputs="327").statements == ()
    assert due(expected_outputs=None).statements == ()


@pytest.mark.parametrize(
    ("fields", "script"),
    [
        ({"user_instruction": "You are Mia."}, "You are Mia."),
        ({"user_scenario": {"persona": None, "instructions": {"known_info": "You are Mia.", "task": "Cancel."}}}, "You are Mia.\nCancel."),
        ({"task": {"user_scenario": {"instructions": "You are Mia."}}}, "You are Mia."),
        ({"verifier_metadata": {"user_scenario": "You are Mia."}}, "You are Mia."),
        ({"user_scenario": {"a": {"b": {"c": {"d": "too deep"}}}}}, None),
        ({"user_scenario": {}}, None),
        ({"user_scenario": {"n": 5, "l": ["x"]}}, None),
        ({"user_instruction": "  "}, None),
        ({"user_instruction": 7}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_what_the_simulated_user_was_told(fields: Row, script: str | None) -> None:
    assert due(**fields).script == script


@pytest.mark.parametrize(
    ("fields", "said_"),
    [
        ({"failure_reason": "it is late"}, [("failure_reason", "it is late")]),
        ({"info": {"error_message": "x y"}}, [("info.error_message", "x y")]),
        ({"metadata": {"verifier": {"verdict": "wrong unit"}}}, [("metadata.verifier.verdict", "wrong unit")]),
        ({"failure_labels": ["a b", "c d"]}, [("failure_labels.0", "a b"), ("failure_labels.1", "c d")]),
        ({"error": {"type": "KeyError", "code": 5}}, [("error.type", "KeyError")]),
        ({"agent_timed_out": True}, [("agent_timed_out", "true")]),
        ({"exit_code": 137}, [("exit_code", "137")]),
        ({"exit_code": 0}, []),
        ({"agent_timed_out": False}, []),
        ({"status": "Passed"}, []),
        ({"status": " ok "}, []),
        ({"error": None}, []),
        ({"is_correct": True, "resolved_status": "no"}, []),
        ({"_ng_failure_class": "judge_failed"}, []),
        ({"expected_answer": "4", "question": "what went wrong?"}, []),
        ({"note": "it is late"}, []),
    ],
)
def test_the_verifiers_words(fields: Row, said_: list[tuple[str, str]]) -> None:
    assert [(one.field, one.text) for one in due(**fields).said] == said_


@pytest.mark.parametrize(
    "name", ["trajectory_invalid_reasons", "incorrect_reason", "mismatch_message", "unresolved_reason"]
)
def test_a_name_that_denies_a_good_word_speaks(name: str) -> None:
    assert [(one.field, one.text) for one in due(**{name: "the user hung up"}).said] == [(name, "the user hung up")]


REPLY = {"response": {"output": [{"type": "message", "content": [{"text": "It is off by 4 %. [[0]]"}]}]}}


@pytest.mark.parametrize(
    ("fields", "said_"),
    [
        ({"compiled": False, "correctness": False}, [("compiled", "false"), ("correctness", "false")]),
        ({"compiled": True, "is_safe": True, "utility": 1.0}, []),
        ({"is_safe": False}, [("is_safe", "false")]),
        ({"attack_success": True, "injection_followed": False}, [("attack_success", "true")]),
        ({"attack_type": "roleplay", "injection_task_id": 7}, []),
        ({"original_task_success": False}, [("original_task_success", "false")]),
        ({"success": False, "overall_success": False, "strict_success": 0.0}, []),
        ({"judge_text": "The rating is: [[0]]"}, [("judge_text", "The rating is: [[0]]")]),
        (
            {"judge_evaluation": REPLY},
            [("judge_evaluation.response.output.0.content.0.text", "It is off by 4 %. [[0]]")],
        ),
        (
            {"compiler_output": {"stdout": "error: unknown tactic", "stderr": ""}},
            [("compiler_output.stdout", "error: unknown tactic")],
        ),
        ({"build_output": "a.cu(5): error"}, [("build_output", "a.cu(5): error")]),
        ({"verification_result": {"output": "FAILED t.py::a"}}, [("verification_result.output", "FAILED t.py::a")]),
        ({"execution_result": {"output": "42"}}, []),
        ({"verification_result": {"resolution": "RESOLVED_NO"}}, [("verification_result.resolution", "RESOLVED_NO")]),
        ({"info": {"feedback": "It is dark.", "won": False}}, []),
        ({"info": {"feedback": "It is dark."}}, [("info.feedback", "It is dark.")]),
    ],
)
def test_what_is_said_by_flags_judges_and_compilers(fields: Row, said_: list[tuple[str, str]]) -> None:
    assert [(one.field, one.text) for one in due(**fields).said] == said_


@pytest.mark.parametrize("name", ["result", "verifier_result"])
def test_a_text_where_others_have_an_account_speaks(name: str) -> None:
    assert [(one.field, one.text) for one in due(**{name: "wrong answer on test 3"}).said] == [
        (name, "wrong answer on test 3")
    ]


def test_an_account_that_is_empty_here() -> None:
    assert due(reward_info=None, eval_report={"a": 1}, judge_output=None).empty_records == (
        "reward_info",
        "judge_output",
    )


def test_a_row_that_says_nothing() -> None:
    assert due() == NOTHING_DUE


@pytest.mark.parametrize(
    ("actions", "statements", "wants"),
    [
        ([], None, "nothing"),
        ([{"name": "get_user"}], [], "nothing"),
        ([], ["327"], "information"),
        (KEY, ["327"], "one change"),
        (KEY * 2, None, "several changes"),
        ("4", None, None),
        ([{"toggle": 1}], None, None),
    ],
)
def test_what_a_key_wants_in_two_words(actions: object, statements: object, wants: str | None) -> None:
    assert key_expects(actions, statements) == wants


# Hostile values.

FIELDS = (
    *("expected_actions", "expected_action", "ground_truth", "reference_calls", "evaluation_criteria", "task"),
    *("verifier_metadata", "expected_outputs", "user_scenario", "user_instruction", "expected_answer", "label"),
    *("extracted_answer", "answer", "model_patch", "error", "exception", "failure_reason", "stderr", "exit_code"),
    *("verdict", "status", "result", "results", "reward_info", "verifier_result", "eval_report", "judge_output"),
    *("judge_evaluations", "rubric_judgements", "judge_diagnostics", "info", "metadata", "criteria", "test_results"),
    *("tests_status", "tests", "test_details", "checks", "step_results", "reward_components", "instruction_id_list"),
    *("follow_instruction_list", "kwargs", "details", "failures", "f2p_total", "f2p_passed", "agent_timed_out"),
    *("stop_reason", "judge_error", "trajectory"),
)
BROKEN: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 1e308, 2**63, 2**70, "", "x", "[", "{}", "null", "9" * 500, "\x00\u202e"),
    *([], [None], [[]], [[[[]]]], [1, "a", None, {}], [True, -1, 2**65], {}, {"": ""}, {"a": None}, {"a.b": {"reason": "c"}}),
    *({"name": None}, {"name": 5, "arguments": []}, [{"name": "f", "arguments": "{"}], [{"name": "f", "arguments": 5}]),
    *([{"function": "f"}], [{"function": {"name": 5}}], [{"name": "f", "kwargs": {"a": 2**70}, "compare_args": [None, 1]}]),
    *([{"name": "a", "passed": None}, {"passed": [1]}], {"success": [1], "failure": None}, {"success": [], "failure": ["a"]}),
    *({"error": {"error": {"error": {"error": "x"}}}}, {"actions": {"a": 1}, "communicate_info": {}, "user_scenario": []}),
    [{"name": "f", "arguments": '{"a": ' + "[" * 300 + "]" * 300 + "}"}],
]  # fmt: skip
OUTPUTS: list[Any] = [
    [call("set", "{"), result("Error: x"), said("It cannot be.")],
    [call("set", "[1]"), call("f", '{"a": NaN}', "b"), result("ok", "b")],
    [call("f", '{"a": 123456789012345678901234567890}'), result(None), said("")],
    [call("f", '{"a": ' + "[" * 300 + "]" * 300 + "}"), said("x", "user")],
    "words",
    [],
    None,
]


def analyzed(path: Path) -> int:
    """Analyze and report; the number of rollouts whose failures are told apart, each once."""
    options = Options(workers=1)
    analysis = pipeline.analyze(pipeline.load([str(path)], options), options)
    assert report(analysis)
    failed = 0
    for one in analysis.runs:
        assert one.diagnosis is not None
        mine = one.metrics.counts["failed_rollouts"] or 0
        assert sum(mode.rollouts for mode in one.diagnosis.partition.modes) == mine
        failed += mine
    return failed


@pytest.mark.parametrize("start", range(2))
def test_rows_in_which_every_field_is_broken_never_raise(tmp_path: Path, start: int) -> None:
    """Every field takes every broken value in some row; tasks have passing and failing repeats."""
    rows = [
        rollout(index=n // 3, repeat=n % 3, passed=n % 3 == 0, output=OUTPUTS[n % len(OUTPUTS)])
        | {name: BROKEN[(n + start + 7 * place) % len(BROKEN)] for place, name in enumerate(FIELDS)}
        for n in range(len(BROKEN))
    ]
    assert analyzed(write_jsonl(tmp_path / "run.jsonl", rows)) > 0


def test_rows_in_which_every_field_is_broken_alike_never_raise(tmp_path: Path) -> None:
    rows = [
        rollout(index=n, repeat=repeat, passed=repeat == 0, output=OUTPUTS[(n + repeat) % len(OUTPUTS)])
        | dict.fromkeys(FIELDS, value)
        for n, value in enumerate(BROKEN)
        for repeat in range(3)
    ]
    assert analyzed(write_jsonl(tmp_path / "run.jsonl", rows)) > 0


def test_broken_keys_beside_the_rollouts_never_raise(tmp_path: Path) -> None:
    places = [(n, repeat) for n in range(len(BROKEN)) for repeat in range(3)]
    inputs = [{"_ng_task_index": n, "_ng_rollout_index": repeat, "ground_truth": BROKEN[n]} for n, repeat in places]
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs)
    rows = [
        rollout(index=n, repeat=repeat, passed=repeat == 0, output=OUTPUTS[(n + repeat) % len(OUTPUTS)])
        for n, repeat in places
    ]
    assert analyzed(write_jsonl(tmp_path / "run.jsonl", rows)) == 2 * len(BROKEN)


LOGS = [
    "Failed 0 of 0 tests",
    "TESTS=0 PASS=0 FAIL=0 SKIP=0",
    "TESTS=3 PASS=1 FAIL=2 SKIP=0",
    "0 failed, 0 passed",
    f"Failed {'9' * 5_000} of 3 tests",
    f"{'9' * 5_000} failed, 1 passed",
]


@pytest.mark.parametrize("log", LOGS, ids=range(len(LOGS)))
def test_logs_that_count_tests_never_raise(tmp_path: Path, log: str) -> None:
    rows = [rollout("t", repeat=0, passed=True), rollout("t", repeat=1, stderr=f"compiling\n{log}\n")]
    assert analyzed(write_jsonl(tmp_path / "run.jsonl", rows)) == 1


def test_a_log_of_digits_takes_no_longer_than_its_length(tmp_path: Path) -> None:
    def taken(digits: int) -> float:
        rows = [rollout("t", repeat=0, passed=True), rollout("t", repeat=1, stderr="9" * digits)]
        path = write_jsonl(tmp_path / f"{digits}.jsonl", rows)
        start = perf_counter()
        analyzed(path)
        return perf_counter() - start

    taken(100)
    # Four times the digits: what looks at each of them against all the others takes sixteen times as long.
    short, long = (min(taken(digits) for _ in range(3)) for digits in (3_000, 12_000))
    assert long < 6 * short + 0.2


DEEP = json.dumps({"a": None}).replace("null", "[" * 600 + "]" * 600)


def test_deep_arguments_with_the_key_beside_them_never_raise(tmp_path: Path) -> None:
    wanted = [{"name": "update", "arguments": DEEP}]
    inputs = [{"_ng_task_index": 0, "_ng_rollout_index": n, "ground_truth": wanted} for n in range(2)]
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs)
    rows = [rollout(index=0, repeat=n, passed=n == 0, output=[call("update", DEEP), result("ok")]) for n in range(2)]
    try:
        failed = analyzed(write_jsonl(tmp_path / "run.jsonl", rows))
    except RecursionError:  # caught here: its trace takes seconds to print
        failed = None
    assert failed == 1


def test_deep_arguments_with_the_key_in_the_row_do_not_cost_the_row(tmp_path: Path) -> None:
    wanted = [{"name": "update", "arguments": DEEP}]
    rows = [rollout("t", repeat=n, output=[call("update", DEEP), result("ok")], ground_truth=wanted) for n in range(2)]
    assert analyzed(write_jsonl(tmp_path / "run.jsonl", rows)) == 2


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["f", "{}", "error"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "arguments", "function", "passed", "reason", "success", "failure", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6))
def test_anything_may_be_due(fields: Row) -> None:
    row, _ = decode_row(json.dumps({"reward": 0.0, **fields}).encode())
    found = read_due(row)
    assert all(one.tool for one in found.calls or ())
    assert all(one.field and one.text for one in found.said)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4), min_size=1, max_size=4))
def test_what_is_known_already_is_what_would_be_read(several: list[Row]) -> None:
    rows = [decode_row(json.dumps(fields).encode())[0] for fields in [*several, *several]]
    names = dict.fromkeys(name for row in rows for name in row)
    known = KnownDue().column({name: [row.get(name) for row in rows] for name in names})
    read = [read_due({name: row[name] for name in names if name in row}) for row in rows]
    assert (known or [NOTHING_DUE] * len(rows)) == read


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=8), min_size=2, max_size=6))
def test_anything_may_be_due_through_the_whole_pipeline(tmp_path: Path, many: list[Row]) -> None:
    rows = [rollout(index=0, repeat=n, passed=n == 0, output=OUTPUTS[n]) | fields for n, fields in enumerate(many)]
    analyzed(write_bytes(tmp_path / "run.jsonl", b"\n".join(json.dumps(row).encode() for row in rows)))


def test_the_sentence_on_the_whole_speaks_before_the_messages_of_many_tests() -> None:
    tests = [{"name": f"test {n}", "passed": False, "message": f"AssertionError at `f({n})`"} for n in range(40)]
    found = due(test_results=tests, failure_reason="AssertionError at `f(0)`").said
    assert [one.field for one in found[:2]] == ["failure_reason", "test_results.0.message"]


def test_words_come_in_one_order_whatever_the_order_of_the_fields() -> None:
    said = {"z_reason": "the unit is wrong", "b_reason": "came late", "error_list": ["one", "two"]}
    rows = [dict(said), dict(reversed(said.items()))]
    first, second = (read_due(decode_row(json.dumps(row).encode())[0]) for row in rows)
    assert [one.field for one in first.said] == ["b_reason", "z_reason", "error_list.0", "error_list.1"]
    assert second == first
