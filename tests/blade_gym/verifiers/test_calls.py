"""Verifiers of function calls: the leaderboard's checker, and calls that must be equal."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from blade.model.errors import RequestError
from blade_gym.answers import message
from blade_gym.environment import NoVerdict, Row
from blade_gym.single_turn import needed
from blade_gym.verifier_kit.calls import LONGEST_SHOWN, MOST_SHOWN, call_item, calls_of, shown_calls
from blade_gym.verifiers import expected_calls, function_calls

FORECAST = {
    "type": "function",
    "name": "get_forecast",
    "parameters": {
        "type": "object",
        "properties": {"town": {"type": "string"}, "days": {"type": "integer"}, "unit": {"type": "string"}},
        "required": ["town"],
    },
}
FERRY = {
    "type": "function",
    "name": "book_ferry",
    "parameters": {"type": "object", "properties": {"route": {"type": "string"}}, "required": ["route"]},
}
TRUTH = [
    {"get_forecast": {"town": ["Oslo"], "days": [1], "unit": ["celsius", ""]}},
    {"book_ferry": {"route": ["A-B", "A to B"]}},
]
BOTH = [("get_forecast", {"town": "Oslo", "days": 1}), ("book_ferry", {"route": "A-B"})]


def _row(truth: list[Any], **more: Any) -> Row:
    return {"responses_create_params": {"input": [], "tools": [FORECAST, FERRY]}, "ground_truth": truth, **more}


def _items(*calls: tuple[str, Any]) -> list[Row]:
    return [call_item(name, arguments) for name, arguments in calls]


def _failure(*calls: tuple[str, Any], truth: list[Any] = TRUTH, **more: Any) -> tuple[str | None, str | None]:
    fields = function_calls.verify(_row(truth, **more), _items(*calls), {}).fields
    return fields["error_type"], fields["failure_reason"]


def test_a_package_that_is_missing_is_told_before_a_run() -> None:
    function_calls.ready()
    with pytest.raises(RequestError, match="needs no_such_checker, which is not installed") as raised:
        needed("no_such_checker", requirement="no-such-checker>=1")
    assert raised.value.hint == "pip install --no-deps 'no-such-checker>=1'"


def test_calls_pass_in_any_order_with_any_accepted_value() -> None:
    assert _failure(("book_ferry", {"route": "a to b"}), ("get_forecast", {"town": "oslo", "days": 1})) == (None, None)
    assert _failure(truth=[]) == (None, None)


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([], "no call was made"),
        (BOTH[:1], "the number of calls is wrong"),
        (BOTH[:1] * 2, "no call matches one of the expected calls"),
    ],
)
def test_what_is_wrong_with_several_calls_is_named(calls: list[Any], reason: str) -> None:
    assert _failure(*calls)[1] == reason


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("get_forecast", {"town": "Oslo", "days": 1}, None),
        ("book_ferry", {"town": "Oslo", "days": 1}, "a different tool was called"),
        ("get_forecast", {"days": 1}, "a required argument is missing"),
        ("get_forecast", {"town": "Oslo"}, "an expected argument is missing"),
        ("get_forecast", {"town": "Oslo", "days": 1, "x": 1}, "an argument is not expected"),
        ("get_forecast", {"town": "Oslo", "days": "1"}, "an argument has the wrong type"),
        ("get_forecast", {"town": "Oslo", "days": 2}, "an argument has the wrong value"),
    ],
)
def test_what_is_wrong_with_a_call_is_named(name: str, arguments: Any, reason: str | None) -> None:
    assert _failure((name, arguments), truth=TRUTH[:1])[1] == reason


def test_arguments_must_be_an_object_and_a_written_call_is_none() -> None:
    for text, kind in (("{", "decoder_failed"), ("[]", "decoder_wrong_output_format")):
        item = {"type": "function_call", "name": "book_ferry", "arguments": text}
        fields = function_calls.verify(_row(TRUTH[1:]), [item], {}).fields
        assert fields["error_type"] == f"ast_decoder:{kind}"
        assert fields["failure_reason"] == "the arguments of a call are not a JSON object"
    written = message('{"name": "book_ferry", "arguments": {"route": "A-B"}}')
    assert function_calls.verify(_row(TRUTH[1:]), [written], {}).reward == 0.0


def test_relevance_asks_only_whether_a_call_is_made() -> None:
    for category, calls, reward in (
        ("irrelevance", BOTH, 0.0),
        ("live_irrelevance", [], 1.0),
        ("live_relevance", BOTH, 1.0),
        ("live_relevance", [], 0.0),
    ):
        row = _row([], category=category)
        assert function_calls.verify(row, _items(*calls), {}).reward == reward


@pytest.mark.parametrize("category", ["multi_turn_base", "memory_kv", "web_search_base", "exec_simple", "weather"])
def test_what_the_checker_does_not_judge_gets_no_verdict(category: str) -> None:
    with pytest.raises(NoVerdict, match=f"does not judge the category '{category}'"):
        function_calls.verify(_row(TRUTH, category=category), _items(*BOTH), {})


def test_a_checker_that_fails_gives_no_verdict() -> None:
    documents = [{"name": "f", "parameters": {"properties": {"a": {"type": "no such type"}}, "required": []}}]
    row = {"ground_truth": [{"f": {"a": [1]}}], "function": documents}
    with pytest.raises(NoVerdict, match="the checker of bfcl_eval failed: KeyError: 'no such type'"):
        function_calls.verify(row, _items(("f", {"a": 1})), {})


def test_java_literals_are_read_by_their_documented_type() -> None:
    properties = {"size": {"type": "long"}, "names": {"type": "ArrayList", "items": {"type": "String"}}}
    documents = [{"name": "open", "parameters": {"properties": properties, "required": ["size"]}}]
    truth = [{"open": {"size": [5], "names": [["a"], ""]}}]
    row = {"ground_truth": truth, "function": documents, "category": "simple_java"}
    names = 'new ArrayList<>(Arrays.asList("a"))'
    assert function_calls.verify(row, _items(("open", {"size": "5L", "names": names})), {}).reward == 1.0
    assert function_calls.verify(row, _items(("open", {"size": 5})), {}).reward == 0.0
    assert function_calls.gold(row) is None


def test_huge_and_deep_arguments_end() -> None:
    begun = time.monotonic()
    for text in ('{"route": "' + "a" * 10_000_000 + '"}', '{"route": ' + "[" * 100_000, '{"route": 1e999}'):
        item = {"type": "function_call", "name": "book_ferry", "arguments": text}
        for verifier, row in (
            (function_calls, _row(TRUTH[1:])),
            (expected_calls, {"expected_answers": [{"name": "book_ferry", "arguments": {"route": "A-B"}}]}),
        ):
            found = verifier.verify(row, [item], {})
            assert found.reward == 0.0
            assert len(json.dumps(found.fields, allow_nan=False)) < 10_000
    assert time.monotonic() - begun < 15


def test_expected_calls_must_all_be_made_and_no_others() -> None:
    expected = [{"name": name, "arguments": arguments} for name, arguments in BOTH]
    row = {"expected_answers": expected}
    right = expected_calls.verify(row, expected_calls.gold(row), {})
    assert (right.reward, right.fields["num_correct"], right.fields["failure_reason"]) == (1.0, 2, None)
    further = ("book_ferry", {"route": "A-B", "car": True})
    assert expected_calls.verify(row, _items(further, BOTH[0]), {}).reward == 1.0
    for calls, reason in (
        ([], "no call was made"),
        (BOTH[:1], "an expected call is missing or differs"),
        ([*BOTH, BOTH[0]], "more calls were made than expected"),
    ):
        found = expected_calls.verify(row, _items(*calls), {})
        assert (found.reward, found.fields["failure_reason"]) == (0.0, reason)
    nothing = expected_calls.verify({"expected_answers": []}, _items(*BOTH), {})
    assert nothing.fields["failure_reason"] == "a call was made where none is expected"


def test_a_row_keeps_a_bounded_part_of_the_calls() -> None:
    item = {"type": "function_call", "name": "f", "arguments": '{"a": "' + "x" * LONGEST_SHOWN + '"}'}
    kept = shown_calls(calls_of([item] * 100))
    assert len(kept) == MOST_SHOWN
    assert len(kept[0]["arguments"]) < LONGEST_SHOWN + 10
    assert shown_calls([("f", '{"a": NaN}')]) == [{"name": "f", "arguments": '{"a": NaN}'}]
    assert shown_calls([("f", '{"a": [1]}')]) == [{"name": "f", "arguments": {"a": [1]}}]


@pytest.mark.parametrize("expected", ["", None, 5, [{"arguments": {}}], ["f"]])
def test_a_broken_key_of_expected_calls_is_no_verdict(expected: object) -> None:
    with pytest.raises(NoVerdict, match="not a list of calls"):
        expected_calls.verify({"expected_answers": expected}, [], {})
