"""What was due and what a rollout did, in words: the names and values that must be in the line, and nothing invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.evidence.alignment import AlignedTrajectory
from blade.findings.deep_dives import done_in_words, due_in_words
from builders import Row, call, response, result, rollout, said, write_jsonl

Parts = tuple[str, ...]


def walk(folder: Path, **fields: Any) -> AlignedTrajectory:
    run = blade.load_run(write_jsonl(folder / "run.jsonl", [rollout("t", **fields)]))
    return AlignedTrajectory(rollout=run["t", 0])


def did(*calls: tuple[str, Row], found: str = "ok") -> list[Row]:
    items: list[Row] = []
    for place, (tool, arguments) in enumerate(calls):
        items += [call(tool, json.dumps(arguments), f"c{place}"), result(found, f"c{place}")]
    return [*items, said("done")]


def want(*calls: tuple[str, Row]) -> list[Row]:
    return [{"name": tool, "kwargs": arguments} for tool, arguments in calls]


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"expected_actions": want(("cancel", {"id": "A1", "n": 2}))}, ("`cancel(id=A1, n=2)`",)),
        ({"expected_actions": []}, ("no change",)),
        ({"expected_actions": want(("get_order", {"id": "A1"}))}, ("no change",)),
        ({"expected_actions": [], "expected_outputs": ["327", "42"]}, ("no change", "327", "42")),
        ({"expected_actions": want(*(("pay", {"n": n}) for n in range(5)))}, ("pay(n=0)", "pay(n=2)", "2 more")),
        ({"expected_answer": "forty\n two"}, ("forty two",)),
        ({"expected_answer": 42}, ("42",)),
        ({"checks": [{"name": "a", "passed": True}, {"name": "b", "passed": False}]}, ("2 tests or criteria",)),
        ({}, ("not in these files",)),
    ],
)
def test_what_was_due(tmp_path: Path, fields: Row, parts: Parts) -> None:
    text = due_in_words(walk(tmp_path, **fields).due)
    assert [part for part in parts if part not in text] == []


def test_a_long_key_is_cut(tmp_path: Path) -> None:
    long = walk(tmp_path, expected_actions=want(("pay", {f"a{n}": "x" * 100 for n in range(20)})))
    assert len(due_in_words(long.due)) < 200
    assert len(due_in_words(walk(tmp_path, expected_answer="x" * 5_000).due)) < 200


PAY = ("pay", {"card": "visa", "n": 1})


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"expected_actions": [], "output": did(PAY)}, ("`pay`", '"visa"', "(:0)")),
        ({"expected_actions": want(PAY), "output": did(PAY, ("ship", {}))}, ("`ship`", "(:2)")),
        ({"expected_actions": want(PAY, ("ship", {})), "output": did(PAY)}, ("`ship`",)),
        ({"expected_actions": want(PAY), "output": "no"}, ("no change", "`pay`", "expected")),
        ({"expected_actions": want(PAY), "output": did(("pay", {"card": "amex", "n": 1}))}, ("`card` amex for visa", "(:0)")),
        ({"expected_actions": want(PAY), "output": did(("pay", {"n": 1}))}, ("leaves out `card` visa",)),
        ({"expected_actions": want(PAY), "output": did(("pay", {"card": "visa", "n": 1, "tip": 3}))}, ("adds `tip` 3",)),
        ({"expected_actions": [], "expected_outputs": ["327"], "output": "no"}, ("327",)),
        ({"checks": [{"name": "has title", "passed": False, "reason": "none found"}]}, ("`has title`", "none found")),
        ({"stop_reason": "max_steps"}, ("limit of steps",)),
        ({"judge_error": "no reply"}, ("`judge_error`",)),
        ({"error": "connection reset"}, ("`error`", "connection reset")),
        ({"output": ""}, ("no output",)),
        ({"failure_reason": "it is late"}, ("`failure_reason`", "it is late")),
        ({"extracted_answer": "5", "expected_answer": "4"}, ("answers 5", "different")),
        ({"extracted_answer": "5"}, ("answers 5",)),
        ({"output": did(PAY, PAY)}, ("2 calls",)),
        ({"output": did(PAY)}, ("1 call",)),
        ({"output": "hello"}, ("no call",)),
        ({"passed": True, "expected_actions": want(PAY), "output": did(PAY)}, ("as expected",)),
    ],
)  # fmt: skip
def test_what_a_rollout_did(tmp_path: Path, fields: Row, parts: Parts) -> None:
    text = done_in_words(walk(tmp_path, **fields))
    assert [part for part in parts if part not in text] == []


def test_a_change_that_was_tried_and_refused_is_not_called_never_tried(tmp_path: Path) -> None:
    refused = walk(tmp_path, expected_actions=want(PAY), output=did(PAY, found="Error: card declined"))
    text = done_in_words(refused)
    assert "`pay`" in text
    assert "refused" in text


def test_many_differences_are_cut_and_counted(tmp_path: Path) -> None:
    many = walk(tmp_path, expected_actions=[], output=did(*(("pay", {"n": n}) for n in range(7))))
    text = done_in_words(many)
    assert "(:6)" in text
    assert "(:8)" not in text
    assert "3 more" in text


def test_what_the_verifier_does_not_mind_is_not_told(tmp_path: Path) -> None:
    one = walk(tmp_path, expected_actions=[], output=did(PAY))
    aside = AlignedTrajectory(rollout=one.rollout, set_aside=frozenset({("unwanted", "pay", "")}))
    assert "no change is expected" in done_in_words(one)
    assert done_in_words(aside) == "1 call"


@pytest.mark.parametrize(
    "fields",
    [
        {"response": response(did(("pay", {"n": "x\n`y`" * 400})))},
        {"expected_answer": {"a": [None, 2**60]}},
        {"extracted_answer": [1, {"b": None}], "expected_answer": [1]},
        {"response": None},
        {"messages": [], "response": None},
    ],
)
def test_odd_rows_are_told_in_one_short_line(tmp_path: Path, fields: Row) -> None:
    one = walk(tmp_path, expected_actions=want(PAY)) if not fields else walk(tmp_path, **fields)
    for text in (done_in_words(one), due_in_words(one.due)):
        assert 0 < len(text) < 700
