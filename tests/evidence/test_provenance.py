"""Where a value comes from, and which scalar inside an argument is the one that differs."""

from __future__ import annotations

from pathlib import Path

import pytest

import blade
from blade.evidence import provenance
from blade.model.expected import DueCall
from blade.model.rollout import Rollout
from builders import Row, call, result, rollout, said, write_jsonl

ITEMS = [
    said("Hello, which order?"),
    said("Order W77 please, I am Ann.", "user"),
    call("get_order", '{"id": "W77"}', "a"),
    result('{"id": "W77", "card": "visa_1111", "total": 54.5}', "a"),
    call("get_order", '{"id": "W78"}', "b"),
    result('{"id": "W78", "card": "VISA_1111"}', "b"),
    said("Your card is amex_2222."),
]


def read(folder: Path, items: list[Row] = ITEMS, prompt: str | None = None) -> Rollout:
    run = blade.load_run(write_jsonl(folder / "run.jsonl", [rollout("t", output=items, prompt=prompt)]))
    return run["t", 0]


@pytest.mark.parametrize(
    ("value", "before", "step"),
    [
        ("W77", None, 3),
        ("W77", 3, 1),
        ("w77", 2, 1),
        ("W77", 1, None),
        ("visa_1111", None, 5),
        ("visa_1111", 5, 3),
        (54.5, None, 3),
        ("amex_2222", None, None),
        ("visa", None, None),
        ("visa_111", None, None),
        ("Ann", None, 1),
        ("W7", None, None),
        (True, None, None),
        (None, None, None),
        (["W77"], None, None),
        ("x" * 201, None, None),
    ],
)
def test_the_last_result_or_message_that_holds_a_value(
    tmp_path: Path, value: object, before: int | None, step: int | None
) -> None:
    found = provenance.source(read(tmp_path), value, before)
    assert (found.index if found is not None else None) == step


def test_a_value_with_signs_of_a_pattern_is_looked_for_as_it_is(tmp_path: Path) -> None:
    items = [call("get", "{}"), result("a+b (c) and a.b")]
    assert provenance.source(read(tmp_path, items), "a+b (c)") is not None
    assert provenance.source(read(tmp_path, [call("get", "{}"), result("axb")]), "a.b") is None


def test_the_prompt_is_what_the_agent_was_given(tmp_path: Path) -> None:
    given = read(tmp_path, prompt="You serve order W99.")
    assert provenance.in_prompt(given, "w99")
    assert not provenance.in_prompt(given, "W77")
    assert not provenance.in_prompt(read(tmp_path), "W99")


@pytest.mark.parametrize(
    ("value", "can"), [("abc", True), (123, True), ("ab", False), (12, False), (False, False), ({}, False)]
)
def test_short_values_stand_everywhere_by_chance(value: object, can: bool) -> None:
    assert provenance.can_be_traced(value) is can


def test_leaves_carry_the_name_nearest_to_them() -> None:
    value = {"city": "Oslo", "lines": ["a", {"zip": 1}], "none": [], "deep": {"x": {"y": None}}}
    assert list(provenance.leaves("address", value)) == [("city", "Oslo"), ("lines", "a"), ("zip", 1), ("y", None)]
    assert list(provenance.leaves("id", 7)) == [("id", 7)]


@pytest.mark.parametrize(
    ("due", "made", "found"),
    [
        ("a", "b", ("card", "a", "b")),
        ("a", None, ("card", "a", None)),
        (None, "b", ("card", None, "b")),
        ({"zip": "1", "city": "Oslo"}, {"city": "Oslo", "zip": "2"}, ("zip", "1", "2")),
        ({"zip": "1"}, {"zip": "1", "floor": 3}, ("floor", None, 3)),
        (["a", "b"], ["b", "c"], ("card", "a", "c")),
        (["a", "b"], ["b"], ("card", "a", None)),
        ([{"id": "1", "n": 2}], [{"id": "1", "n": 3}], ("n", 2, 3)),
        (["a", "a"], ["a"], ("card", ["a", "a"], ["a"])),
    ],
)
def test_the_first_scalar_that_is_not_as_it_was_due(
    due: object, made: object, found: tuple[str, object, object]
) -> None:
    assert provenance.first_difference("card", due, made) == found


@pytest.mark.parametrize(
    ("due", "made"),
    [
        ({"city": "Oslo", "zip": "1"}, {"city": "oslo", "zip": "2"}),
        ({"n": "5", "zip": "1"}, {"n": 5, "zip": "2"}),
        ({"note": "", "zip": "1"}, {"zip": "2"}),
    ],
    ids=["case", "number as text", "empty"],
)
def test_what_counts_as_the_same_is_not_named_as_the_difference(due: Row, made: Row) -> None:
    assert provenance.first_difference("address", due, made) == ("zip", "1", "2")


def test_values_of_a_due_call_that_can_be_traced() -> None:
    call_ = DueCall(
        tool="set", arguments={"id": "W77", "ok": True, "n": 5, "to": {"zip": 12345}, "tags": ["ab", "abc"]}
    )
    assert provenance.values_of(call_) == [("id", "W77"), ("zip", 12345), ("tags", "abc")]
