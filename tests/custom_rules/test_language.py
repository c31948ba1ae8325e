"""The language of rules: what holds, what does not, what is quoted, and what is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.api import load_run
from blade.custom_rules import RuleError, TooMuch, match, needs_steps, parse, tools_named
from blade.model.rollout import Rollout
from builders import call, result, rollout, said, write_jsonl

ORDER = {"order_id": "W1", "status": "pending", "created_at": "2024-05-01T10:00:00", "items": [{"sku": "a", "n": 2}]}
WALK = [
    said("My order W1 please", "user"),
    call("get_order", '{"order_id": "W1"}', "a"),
    result(json.dumps(ORDER), "a"),
    call("cancel_order", '{"order_id": "W1", "at": "2024-05-03T10:00:00", "fee": "5"}', "b"),
    result("Error: too late", "b", is_error=True),
    said("I could not cancel it, sorry."),
]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Rollout:
    rows = [
        rollout(
            "t1",
            repeat=0,
            output=WALK,
            difficulty="hard",
            verifier={"exit_code": 3, "checks": [{"name": "x", "ok": False}, {"name": "y", "ok": True}]},
            extracted_answer="42",
        )
    ]
    path = write_jsonl(tmp_path_factory.mktemp("run") / "rollouts.jsonl", rows)
    return load_run(Path(path))["t1", 0]


HOLDS = [
    "call get_order",
    "call get_*",
    "call nothing|cancel_order",
    'call "cancel_order"',
    "call cancel_order[failed]",
    "call[changes and failed]",
    "result cancel_order[failed]",
    'result[text contains "too late"]',
    'call get_order[json.status = "pending"]',
    'call get_order[returned contains "W1"]',
    'call cancel_order[args.order_id = "W1"]',
    "call cancel_order[args.fee = 5]",
    "call cancel_order[args.fee > 4 and args.fee < 5.5]",
    "result get_order as r then call cancel_order[args.order_id = r.json.order_id]",
    "result get_order as r then call cancel_order[args.at - r.json.created_at = 2d]",
    "result get_order as r then call cancel_order[args.at - r.json.created_at > 47h]",
    "call cancel_order as c and call get_order[args.order_id = c.args.order_id]",
    "call cancel_order[earlier call get_order]",
    "call get_order[later call cancel_order]",
    "call get_order[not earlier call]",
    "not call refund",
    "count(call) = 2",
    "count(call) - count(call[failed]) = 1",
    "count(message[party = 'user']) < 2",
    "call get_order then result then call cancel_order then message",
    'message[party = "agent" and text matches "(?i)COULD NOT"]',
    'row.difficulty = "hard"',
    'row.difficulty in ("easy", "hard")',
    "exists row.verifier.exit_code",
    "row.verifier.exit_code != 0",
    'row.verifier.checks.*.name = "y"',
    "row.verifier.checks.0.name = 'x'",
    "row.verifier.checks.1.ok",
    "length(row.verifier.checks) = 2",
    'call get_order[json.items.*.sku = "a"]',
    "not exists row.other",
    'answer = 42 and outcome = "failed" and reward < 0.5',
    "calls = 2 and tool_errors = 1 and steps > 5",
    'task = "t1" and repeat = 0',
    "(call refund or call get_order) and not (call a and call b)",
    "call get_order # a remark\n and call cancel_order",
]
DOES_NOT = [
    "call refund",
    "call cancel_order then call get_order",
    "call get_order[failed]",
    "call cancel_order[args.other != 5]",
    "row.other != 5",
    "row.difficulty > 3",
    "result get_order as r then call cancel_order[args.at - r.json.created_at > 49h]",
    "call cancel_order as c[not earlier result get_order[json.order_id = c.args.order_id]]",
    "not call",
    "row.verifier.checks.0.ok",
    "call get_order[earlier call]",
    'answer in ("41", "43")',
    'error contains "x"',
    "count(call get_*) > 1",
]


@pytest.mark.parametrize("text", HOLDS)
def test_holds(walk: Rollout, text: str) -> None:
    assert match(parse(text), walk) is not None


@pytest.mark.parametrize("text", DOES_NOT)
def test_does_not_hold(walk: Rollout, text: str) -> None:
    assert match(parse(text), walk) is None


@pytest.mark.parametrize(
    ("text", "step", "field", "quote"),
    [
        ("call cancel_order", 3, "arguments", '{"order_id": "W1", "at": "2024-05-03T10:00:00", "fee": "5"}'),
        ('result[text contains "too late"]', 4, "text", "too late"),
        ('message[text matches "could n[a-z]+"]', 5, "text", "could not"),
        ("row.verifier.exit_code > 0", None, "verifier.exit_code", "3"),
        ("answer = 42", None, "answer", "42"),
        ("not call refund", 5, "text", "I could not cancel it, sorry."),
        ("reward < 1 and call get_order", 1, "arguments", '{"order_id": "W1"}'),
    ],
)
def test_what_shows_it_is_quoted(walk: Rollout, text: str, step: int | None, field: str, quote: str) -> None:
    found = match(parse(text), walk)
    assert found is not None
    assert found.evidence is not None
    assert (found.evidence.step, found.evidence.field, found.evidence.quote) == (step, field, quote)


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ("", "empty", 0),
        ("call x[", "a value should", 7),
        ("call x[failed", "']' is missing", 13),
        ("foo = 1", "nothing is called 'foo'", 0),
        ("args.x = 1", "nothing is called 'args'", 0),
        ('answer matches "("', "regular expression", 15),
        ("answer matches 5", "in quotes", 15),
        ("call x and", "a value should", 10),
        ("earlier call x", "needs a step", 0),
        ("row = 1", "which field", 0),
        ("answer = null", "nothing equals null", 9),
        ("answer = 'abc", "closing quote", 9),
        ("call x call y", "not expected", 7),
        ("answer ~ 3", "means nothing", 7),
        ("call x as row", "cannot be the name", 10),
        ("call x as c and c.argz.id = 1", "a step has no", 16),
        ("then call x", "a value should", 0),
        ("(" * 80 + "reward = 1" + ")" * 80, "deep", 25),
    ],
)
def test_an_error_shows_its_place(text: str, what: str, column: int) -> None:
    with pytest.raises(RuleError) as caught:
        parse(text)
    assert what in caught.value.message
    assert caught.value.message.splitlines()[-1] == "  " + " " * column + "^"
    assert caught.value.hint


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(RuleError) as caught:
        parse("awnser = 5")
    assert caught.value.hint == "did you mean answer?"


def test_what_is_known_of_a_rule_without_a_rollout() -> None:
    rule = parse("call get_* then call cancel_order and row.a = 1")
    assert needs_steps(rule)
    assert not needs_steps(parse("row.a = 1 or reward > 0.5"))
    assert tools_named(rule) == ("get_*", "cancel_order")


def test_patterns_that_multiply_are_stopped(tmp_path: Path) -> None:
    many = [item for n in range(400) for item in (call("a", "{}", f"c{n}"), result("ok", f"c{n}"))]
    run = load_run(write_jsonl(tmp_path / "r.jsonl", [rollout("t", repeat=0, output=many)]))
    with pytest.raises(TooMuch):
        match(parse("call a then call a then call a then call a then call missing"), run["t", 0])


WORDS = [
    "call",
    "result",
    "message",
    "x",
    "[",
    "]",
    "(",
    ")",
    "and",
    "or",
    "not",
    "exists",
    "=",
    "!=",
    ">",
    "contains",
    "matches",
    "in",
    "as",
    "then",
    "earlier",
    "count",
    "length",
    "row",
    ".",
    "*",
    "5",
    "2h",
    "'a'",
    '"b"',
    ",",
    "|",
    "+",
    "-",
    "c",
    "answer",
    "#",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=30))
def test_any_text_is_a_rule_or_a_rule_error(text: str) -> None:
    try:
        rule = parse(text)
    except RuleError:
        return
    assert hash(rule) == hash(parse(text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "*", "0"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(VALUES, st.sampled_from(["=", "!=", "<", ">=", "contains", "in"]), VALUES)
def test_any_values_can_be_compared(left: object, operator: str, right: object) -> None:
    from blade.custom_rules.values import compare

    assert compare(left, operator, right) in (True, False)
