"""Per-test and per-criterion verdicts, in every shape that verifiers use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.ingest.checks import FIELDS, LONGEST_NAME, LONGEST_WORDS, MOST, may_hold, verdict
from blade.ingest.decode import decode_row
from blade.ingest.expected import checks_of
from blade.model.expected import VerifierCheck
from builders import Row, load_rows, rollout


def checks(**fields: Any) -> tuple[VerifierCheck, ...]:
    row, _ = decode_row(json.dumps({"reward": 0.0, **fields}).encode())
    return checks_of(row)


def named(**fields: Any) -> list[tuple[str, bool, str]]:
    """Name, verdict and place of each check."""
    return [(check.name, check.passed, check.field) for check in checks(**fields)]


def at(row: Any, path: str) -> Any:
    for name in path.split("."):
        row = row[int(name)] if isinstance(row, list) else row[name]
    return row


NAMES = [
    *("rubric_judgements", "rubric_results", "criteria", "criteria_results", "test_results", "tests_status", "tests"),
    *("test_details", "checks", "step_results", "validation_results", "instruction_results", "reward_components"),
    *("rubric_verdicts", "rubric_evaluations", "verification_results", "assertion_results", "requirement_scores"),
    *("grading_breakdown", "score_breakdown"),
]


@pytest.mark.parametrize("field", NAMES)
def test_a_list_of_named_verdicts(field: str) -> None:
    value = [{"name": "a", "passed": True}, {"name": "b", "passed": False}]
    assert named(**{field: value}) == [("a", True, f"{field}.0.passed"), ("b", False, f"{field}.1.passed")]


@pytest.mark.parametrize(("given", "most"), [("points", "max_points"), ("score", "max_score"), ("earned", "possible")])
def test_points_beside_the_most_that_there_are(given: str, most: str) -> None:
    items = [{"item": "base case", given: 1, most: 2}, {"item": "step", given: 3, most: 3, "comment": "well done"}]
    first, second = checks(rubric_items=items)
    assert (first.name, first.passed, first.field) == ("base case", False, f"rubric_items.0.{given}")
    assert (first.words, first.words_field) == ("1 points of 2", "")
    assert (second.passed, second.words, second.words_field) == (True, "well done", "rubric_items.1.comment")


def test_a_verdict_comes_before_points() -> None:
    assert named(criteria=[{"name": "a", "passed": True, "score": 1, "max_score": 4}]) == [
        ("a", True, "criteria.0.passed")
    ]


@pytest.mark.parametrize("field", NAMES)
def test_an_object_of_verdicts(field: str) -> None:
    assert named(**{field: {"a": "PASSED", "b": 0}}) == [("a", True, f"{field}.a"), ("b", False, f"{field}.b")]


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"name": "x"}, "x"),
        ({"criteria": "has a title"}, "has a title"),
        ({"criterion": "x"}, "x"),
        ({"test": "x"}, "x"),
        ({"id": 7}, "7"),
        ({"instruction": "x"}, "x"),
        ({"nl_assertion": "x"}, "x"),
        ({"name": None, "id": "x"}, "x"),
        ({"name": ["x"]}, "item 1"),
        ({}, "item 1"),
    ],
)
def test_what_a_check_is_called(item: Row, name: str) -> None:
    assert [one for one, _, _ in named(checks=[item | {"passed": False}])] == [name]


@pytest.mark.parametrize(
    ("item", "held", "where"),
    [
        ({"passed": True}, True, "passed"),
        ({"outcome": "failed"}, False, "outcome"),
        ({"status": "OK"}, True, "status"),
        ({"result": "error"}, False, "result"),
        ({"verdict": "yes"}, True, "verdict"),
        ({"met": False}, False, "met"),
        ({"satisfied": 1}, True, "satisfied"),
        ({"action_match": True}, True, "action_match"),
        ({"score": 0.0}, False, "score"),
        ({"passed": None, "status": "fail"}, False, "status"),
        ({"passed": "perhaps", "score": 1.0}, True, "score"),
    ],
)
def test_where_a_verdict_stands(item: Row, held: bool, where: str) -> None:
    assert named(checks=[item | {"name": "a"}]) == [("a", held, f"checks.0.{where}")]


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (True, True),
        (False, False),
        (1, True),
        (0, False),
        (1.0, True),
        ("pass", True),
        (" Passed ", True),
        ("not_met", False),
        ("NO", False),
        (0.5, None),
        (2, None),
        (-1, None),
        ("maybe", None),
        ("", None),
        (None, None),
        ([], None),
        ({}, None),
        (float("nan"), None),
        (2**70, None),
    ],
)
def test_what_a_verdict_says(value: object, held: bool | None) -> None:
    assert verdict(value) is held


def test_a_field_of_which_less_than_half_are_verdicts_is_no_list_of_checks() -> None:
    assert named(reward_components={"format": 1.0, "words": 7}) == [("format", True, "reward_components.format")]
    assert named(reward_components={"format": 1.0, "words": 7, "lines": 3}) == []


def test_a_part_of_the_reward_that_is_held_partly_is_not_met() -> None:
    assert [(one.name, one.passed, one.words) for one in checks(reward_components={"format": 1.0, "length": 0.5})] == [
        ("format", True, ""),
        ("length", False, "0.5"),
    ]
    assert named(reward_safety=0.0, reward_utility=1.0) == [
        ("safety", False, "reward_safety"),
        ("utility", True, "reward_utility"),
    ]
    assert named(reward_model=0.5) == []
    assert named(reward_min=-1.0, reward_max=3.0) == []


def test_an_object_of_objects() -> None:
    value = {"a": {"passed": True, "expected": 1}, "b": {"passed": False, "details": "1 is not 2"}}
    first, second = checks(verification_results=value)
    assert (first.name, first.passed, first.field) == ("a", True, "verification_results.a.passed")
    assert (second.words, second.words_field) == ("1 is not 2", "verification_results.b.details")


def test_named_verdicts_inside_the_account_of_a_judge() -> None:
    value = {"binary_results": [{"check_id": "A-1", "passed": False, "reasoning": "No source is cited."}]}
    (one,) = checks(judge_response=value)
    assert (one.name, one.field) == ("A-1", "judge_response.binary_results.0.passed")
    assert (one.words, one.words_field) == ("No source is cited.", "judge_response.binary_results.0.reasoning")


def test_a_verdict_of_no_may_be_what_was_hoped_for() -> None:
    item = {"question": "Does it hold eggs?", "pass_criteria": "NO", "verdict": "NO", "score": 1.0}
    words = {"judge_response": "No eggs are named.\n[[NO]]"}
    (one,) = checks(rubric_evaluations=[item | words])
    assert (one.name, one.passed, one.words) == ("Does it hold eggs?", True, "No eggs are named.")


def test_steps_without_names() -> None:
    assert named(step_results=[True, False], num_steps_passed=1, num_steps_total=2) == [
        ("step 1", True, "step_results.0"),
        ("step 2", False, "step_results.1"),
    ]


def test_names_beside_booleans() -> None:
    found = named(instruction_id_list=["no_comma", "title", "odd"], follow_instruction_list=[True, False, None])
    assert found == [("no_comma", True, "follow_instruction_list.0"), ("title", False, "follow_instruction_list.1")]
    assert named(instruction_id_list=["a"], follow_instruction_list=[True, False]) == []
    assert named(instruction_id_list=["a"]) == []


def test_traces_of_failed_tests() -> None:
    (one, two) = checks(details={"test_a": "Traceback ...\nAssertionError: 1 != 2", "test.b": "ValueError: x"})
    assert (one.name, one.passed, one.field, one.words_field) == ("test_a", False, "details.test_a", "details.test_a")
    assert (two.name, two.words, two.words_field) == ("test.b", "ValueError: x", "")
    assert checks(details={"test_a": "AssertionError", "note": "all fine"}) == ()
    assert checks(details={"a": 5}) == ()


@pytest.mark.parametrize("field", ["result", "results", "test_results"])
def test_numbered_verdicts(field: str) -> None:
    found = named(**{field: [True, False, -2]})
    assert found == [("test 1", True, f"{field}.0"), ("test 2", False, f"{field}.1"), ("test 3", False, f"{field}.2")]


@pytest.mark.parametrize("value", [[], [True, 3], [0, 1], [True, "x"], [None], "True", {"0": None}])
def test_lists_that_are_no_numbered_verdicts(value: object) -> None:
    assert named(result=value) == []


def test_lists_of_passed_and_failed_tests_somewhere_inside() -> None:
    inside = {"FAIL_TO_PASS": {"success": ["t1"], "failure": ["t2"]}, "PASS_TO_PASS": {"success": [], "failure": []}}
    found = named(metadata={"eval_report": {"astropy-12907": {"resolved": False, "tests_status": inside}}})
    path = "metadata.eval_report.astropy-12907.tests_status.FAIL_TO_PASS"
    assert found == [("FAIL_TO_PASS: t1", True, f"{path}.success.0"), ("FAIL_TO_PASS: t2", False, f"{path}.failure.0")]
    assert named(eval_report={"success": ["a"], "failure": [5]}) == []
    deep: Row = {"success": ["a"], "failure": []}
    for _ in range(8):
        deep = {"x": deep}
    assert named(metadata=deep) == []


@pytest.mark.parametrize(
    ("fields", "name", "words"),
    [
        ({"checkpoints_correct": 1.0, "checkpoints_total": 2.0}, "checkpoints", "1 of 2"),
        ({"instruction_followed_strict": 0.0, "instruction_total": 2.0}, "instruction", "0 of 2"),
        ({"num_passed": 1, "num_total": 3}, "tests", "1 of 3"),
    ],
)
def test_totals_under_other_names(fields: Row, name: str, words: str) -> None:
    assert [(one.name, one.passed, one.words) for one in checks(**fields)] == [(name, False, words)]


def test_totals() -> None:
    found = checks(f2p_total=7, f2p_passed=6, p2p_total=3, p2p_passed=3)
    assert [(one.name, one.passed, one.field, one.words) for one in found] == [
        ("f2p", False, "f2p_passed", "6 of 7"),
        ("p2p", True, "p2p_passed", "3 of 3"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"f2p_total": 7},
        {"f2p_total": 7, "f2p_passed": 8},
        {"f2p_total": 0, "f2p_passed": 0},
        {"f2p_total": 7, "f2p_passed": -1},
        {"f2p_total": "7", "f2p_passed": 6},
        {"f2p_total": 7, "f2p_passed": None},
        {"_total": 7, "_passed": 6},
    ],
)
def test_totals_that_say_nothing(fields: Row) -> None:
    assert named(**fields) == []


def test_the_first_shape_that_holds_any_is_taken() -> None:
    total: Row = {"f2p_total": 7, "f2p_passed": 6}
    numbered: Row = {"result": [True]}
    listed: Row = {"checks": [{"name": "a", "passed": True}]}
    paired: Row = {"instruction_id_list": ["i"], "follow_instruction_list": [False]}
    assert [one for one, *_ in named(**total, **numbered)] == ["test 1"]
    assert [one for one, *_ in named(**total, **numbered, **listed)] == ["a"]
    assert [one for one, *_ in named(**total, **numbered, **listed, **paired)] == ["i"]
    assert [one for one, *_ in named(**numbered, checks=[{"name": "a"}])] == ["test 1"]


@pytest.mark.parametrize(
    ("item", "words", "where"),
    [
        ({"reason": "too long"}, "too long", "reason"),
        ({"justification": "too long"}, "too long", "justification"),
        ({"explanation": "too long", "details": "x"}, "too long", "explanation"),
        ({"reason": " ", "message": "too long"}, "too long", "message"),
        ({"reasons": ["one", "two"]}, "one", "reasons.0"),
        ({"reasons": ["for", "against"], "votes": [True, False]}, "against", "reasons.1"),
        ({"reasons": ["for"], "votes": [True, False]}, "for", "reasons.0"),
        ({"reasons": [5]}, "", ""),
        ({"reason": {"a": 1}}, "", ""),
        ({}, "", ""),
    ],
)
def test_what_the_verifier_wrote_about_a_check(item: Row, words: str, where: str) -> None:
    row = {"checks": [item | {"name": "a", "passed": False}]}
    (one,) = checks(**row)
    assert (one.words, one.words_field) == (words, f"checks.0.{where}" if where else "")
    assert not where or at(row, one.words_field) == words


def test_names_and_words_are_bounded_and_a_log_is_no_list() -> None:
    (one,) = checks(checks=[{"name": "n" * 5_000, "passed": False, "reason": "w" * 50_000}])
    assert (len(one.name), len(one.words)) == (LONGEST_NAME, LONGEST_WORDS)
    assert len(named(result=[True] * MOST)) == MOST
    assert named(result=[True] * (MOST + 1)) == []
    assert named(checks=[{"name": "a", "passed": True}] * (MOST + 1)) == []


def test_the_table_of_checks_keeps_their_order(tmp_path: Path) -> None:
    listed = [{"name": name, "passed": name != "b"} for name in "cab"]
    run = load_rows(tmp_path, rollout("t", repeat=1, checks=listed), rollout("t", repeat=0, result=[False]))
    assert run.checks.select("repeat", "name", "passed").rows() == [
        (0, "test 1", False),
        (1, "c", True),
        (1, "a", True),
        (1, "b", False),
    ]


def test_parts_of_a_match_are_checks_but_not_that_of_the_answer() -> None:
    parts = {"answer_match": 1.0, "citation_match": 0.0, "page_match": 0.5}
    assert named(**parts) == [("citation_match", False, "citation_match"), ("page_match", False, "page_match")]
    assert named(citation_match=0.0) == []
    assert named(citation_match="p/4", page_match=1.0) == []


def test_what_a_reward_is_made_of() -> None:
    made = {"reward_basis": ["DB", "COMMUNICATE"], "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.0}}
    assert named(reward_info=made) == [
        ("DB", True, "reward_info.reward_breakdown.DB"),
        ("COMMUNICATE", False, "reward_info.reward_breakdown.COMMUNICATE"),
    ]


def test_a_report_of_tests_under_the_name_of_the_instance() -> None:
    status = {"FAIL_TO_PASS": {"success": [], "failure": ["t"]}, "PASS_TO_PASS": {"success": ["p"], "failure": []}}
    assert [(one, held) for one, held, _ in named(report={"a__b-1": {"resolved": False, "tests_status": status}})] == [
        ("FAIL_TO_PASS: t", False),
        ("PASS_TO_PASS: p", True),
    ]


def test_which_rows_may_hold_checks() -> None:
    assert may_hold(["reward", "checks"])
    assert may_hold(["f2p_total"])
    assert not may_hold(["reward", "response", "checked"])


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["PASSED", "Error"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "passed", "reasons", "votes", "success", "failure", "a.b"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)
HOLDERS = st.sampled_from([*sorted(FIELDS), "follow_instruction_list", "kwargs", "f2p_total", "f2p_passed"])


@settings(deadline=None)
@given(st.dictionaries(HOLDERS, ANYTHING, min_size=1, max_size=5))
def test_anything_may_stand_where_checks_do(fields: Row) -> None:
    for one in checks(**fields):
        assert isinstance(one.passed, bool)
        assert one.field
        assert not one.words_field or one.words
