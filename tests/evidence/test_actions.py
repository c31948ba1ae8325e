"""Calls that were due against calls that were made: what pairs, what differs, and what is no difference."""

from __future__ import annotations

import json
import random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.evidence.actions import Made, Pairing, carried_out, changes, differing, pair, parsed, same
from blade.model.expected import DueCall
from builders import Row, call, result, said, steps


def due(tool: str, compared: tuple[str, ...] | None = None, **arguments: object) -> DueCall:
    return DueCall(tool=tool, arguments=arguments, compared=compared)


def made(*items: object) -> list[Made]:
    """The calls of a trajectory that were carried out."""
    return carried_out(steps(*items))


def calls(*pairs: tuple[str, object]) -> list[Made]:
    """Calls that all succeeded; arguments that are no text are written as JSON."""
    written = [(tool, given if isinstance(given, str) else json.dumps(given)) for tool, given in pairs]
    return made(*(call(tool, arguments, f"c{place}") for place, (tool, arguments) in enumerate(written)))


def counts(found: Pairing) -> tuple[int, int, int, int]:
    """How many are exact, wrong, missing, extra."""
    return len(found.exact), len(found.wrong), len(found.missing), len(found.extra)


# What was carried out.


def test_a_call_whose_result_reports_an_error_is_not_carried_out() -> None:
    found = made(
        call("book", '{"seat": 1}', "a"),
        result("Error: seat taken", "a"),
        call("book", '{"seat": 2}', "b"),
        result("ok", "b"),
    )
    assert [(one.tool, dict(one.arguments), one.step.index) for one in found] == [("book", {"seat": 2}, 2)]


def test_a_call_without_a_result_counts_as_carried_out() -> None:
    assert [one.tool for one in made(call("book", "{}", "a"), said("bye"))] == ["book"]


def test_a_result_that_speaks_of_errors_later_on_is_none() -> None:
    assert [one.tool for one in made(call("book", "{}", "a"), result("booked; no error was seen", "a"))] == ["book"]


def test_of_two_calls_in_one_message_only_the_refused_one_is_not_carried_out() -> None:
    both = [{"id": name, "function": {"name": tool, "arguments": "{}"}} for name, tool in (("a", "book"), ("b", "pay"))]
    found = made(
        {"role": "assistant", "content": "", "tool_calls": both},
        {"role": "tool", "tool_call_id": "a", "content": "booked"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: card declined"},
    )
    assert [one.tool for one in found] == ["book"]


@pytest.mark.parametrize(
    ("tool", "changing"),
    [
        ("cancel_reservation", True),
        ("crm_update_customer", True),
        ("Booking.create", True),
        ("get_user_details", False),
        ("company_directory_find_email_address", False),
        ("calendar.search_events", False),
        ("transfer_to_human_agents", False),
        ("think", False),
    ],
)
def test_which_tools_change_something(tool: str, changing: bool) -> None:
    assert [one.tool for one in changes(calls((tool, {})))] == [tool] * changing


@pytest.mark.parametrize(
    "tool",
    [
        "create_note",
        "add_note",
        "update_plan",
        "delete_plan",
        "create_list",
        "update_list_item",
        "set_is_active",
        "open_ticket",
    ],
)
def test_a_tool_that_creates_or_deletes_changes_something_whatever_its_object(tool: str) -> None:
    assert [one.tool for one in changes(calls((tool, {})))] == [tool]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, {}),
        ("", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ("not JSON", {"": "not JSON"}),
        ("[1, 2]", {"": [1, 2]}),
        ("7", {"": 7}),
        ("null", {"": None}),
        ('{"a": 1', {"": '{"a": 1'}),
    ],
)
def test_arguments_of_any_text(text: str | None, value: object) -> None:
    assert parsed(text) == value


# Which values are the same.

SAME: list[tuple[object, object]] = [
    (5, 5.0),
    ("5", 5),
    ("5.0", 5),
    ("true", True),
    ("New  York", " new york"),
    (["a", "b"], ["b", "a"]),
    ('["a", "b"]', ["b", "a"]),
    ([1, [2, 3]], [[3.0, 2], 1]),
    ({"a": 1, "b": [1, 2]}, {"b": [2, 1], "a": 1.0}),
    ('{"a": 1}', {"a": 1}),
    ({"a": 1, "b": None}, {"a": 1}),
    (None, ""),
    ([], None),
    ({}, ""),
    (["x", "x"], ["x", "x"]),
]
OTHER: list[tuple[object, object]] = [
    (5, 6),
    (True, 1),
    (False, 0),
    (False, None),
    (0, None),
    (0, ""),
    ("a", "b"),
    ("5", "5.0"),
    (["a"], ["a", "a"]),
    (["a", "a", "b"], ["a", "b", "b"]),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, [1]),
    ("a", ["a"]),
    ("[a", ["a"]),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_value(one: object, other: object) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_value(one: object, other: object) -> None:
    assert not same(one, other)
    assert not same(other, one)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.sampled_from(["", "a", "B", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_sameness_goes_both_ways_and_holds_of_itself(one: object, other: object) -> None:
    assert same(one, one)
    assert same(one, other) == same(other, one)


def test_long_lists_are_compared_in_bounded_time() -> None:
    many = list(range(1_000))
    start = perf_counter()
    assert same(many, random.Random(1).sample(many, len(many)))
    assert perf_counter() - start < 3


# Which calls are paired.


def test_equal_calls_pair_whatever_their_order() -> None:
    found = pair([due("set", a=1), due("set", a=2)], calls(("set", {"a": 2}), ("set", {"a": 1})))
    assert counts(found) == (2, 0, 0, 0)
    assert [(call_.arguments["a"], one.arguments["a"]) for call_, one in found.exact] == [(1, 1), (2, 2)]


def test_an_argument_given_as_json_text_is_read() -> None:
    (one,) = calls(("pay", {"items": '[{"id": "x", "n": 2}]', "total": "5"}))
    assert counts(pair([due("pay", items=[{"n": 2.0, "id": "x"}], total=5)], [one])) == (1, 0, 0, 0)


def test_empties_and_absences_are_the_same_on_both_sides() -> None:
    assert differing(due("set", a=1, note="", tags=[]), {"a": 1}) == ()
    assert differing(due("set", a=1), {"a": 1, "note": None, "tags": {}}) == ()


def test_an_argument_that_was_not_due_differs() -> None:
    assert differing(due("set", a=1), {"a": 1, "force": True}) == ("force",)


def test_differing_arguments_come_in_the_order_of_the_key_then_of_the_call() -> None:
    assert differing(due("set", b=1, a=1), {"z": 1, "a": 2, "y": 1}) == ("b", "a", "z", "y")


def test_only_compared_arguments_are_looked_at() -> None:
    wanted = due("refund", ("order",), order="W1", note="late")
    assert differing(wanted, {"order": "w1", "note": "never came", "more": 1}) == ()
    assert differing(wanted, {"order": "W2", "note": "late"}) == ("order",)
    assert differing(due("refund", (), order="W1"), {"order": "W2"}) == ()


def test_the_nearest_call_is_the_one_with_fewest_differing_arguments() -> None:
    far, near = {"a": 1, "b": 9, "c": 9}, {"a": 1, "b": 2, "c": 9}
    found = pair([due("set", a=1, b=2, c=3)], calls(("set", far), ("set", near)))
    (wrong,) = found.wrong
    assert (dict(wrong.made.arguments), wrong.names) == (near, ("c",))
    assert [dict(one.arguments) for one in found.extra] == [far]


def test_an_exact_call_is_not_given_away_to_a_near_one() -> None:
    found = pair(
        [due("set", a=1, b=2), due("set", a=1, b=3)], calls(("set", {"a": 1, "b": 3}), ("set", {"a": 1, "b": 9}))
    )
    assert counts(found) == (1, 1, 0, 0)
    assert (found.exact[0][0].arguments["b"], found.wrong[0].due.arguments["b"]) == (3, 2)


def test_a_loosely_compared_call_leaves_the_exact_one_to_the_other() -> None:
    wanted = [due("set", ("a",), a=1, b=2), due("set", a=1, b=3)]
    assert counts(pair(wanted, calls(("set", {"a": 1, "b": 3}), ("set", {"a": 1, "b": 2})))) == (2, 0, 0, 0)


def test_calls_of_one_tool_that_share_nothing_are_missing_and_extra() -> None:
    found = pair([due("set", a=1, b=2)], calls(("set", {"a": 8, "b": 9})))
    assert counts(found) == (0, 0, 1, 1)


def test_a_call_with_one_argument_is_wrong_where_that_differs() -> None:
    assert counts(pair([due("cancel", id="A1")], calls(("cancel", {"id": "B2"})))) == (0, 1, 0, 0)


@pytest.mark.parametrize("added", [{"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 1, "b": 9, "c": 3}])
def test_a_call_that_shares_an_argument_is_wrong_also_where_others_are_added(added: Row) -> None:
    assert counts(pair([due("set", a=1, b=2)], calls(("set", added)))) == (0, 1, 0, 0)


def test_other_tools_never_pair() -> None:
    assert counts(pair([due("set", a=1)], calls(("put", {"a": 1})))) == (0, 0, 1, 1)


def test_a_call_made_twice_pairs_once() -> None:
    assert counts(pair([due("set", a=1)], calls(("set", {"a": 1}), ("set", {"a": 1})))) == (1, 0, 0, 1)


def test_a_call_due_twice_needs_two() -> None:
    assert counts(pair([due("set", a=1), due("set", a=1)], calls(("set", {"a": 1})))) == (1, 0, 1, 0)


def test_nothing_due_and_nothing_made() -> None:
    assert counts(pair([], [])) == (0, 0, 0, 0)
    assert counts(pair([due("set")], [])) == (0, 0, 1, 0)
    assert counts(pair([], calls(("set", {})))) == (0, 0, 0, 1)


ARGUMENTS = st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=2)
CALLS = st.lists(st.tuples(st.sampled_from(["set", "put"]), ARGUMENTS), max_size=5)


@given(CALLS, CALLS)
def test_every_call_of_both_sides_is_in_one_place(wanted: list[tuple[str, Row]], given_: list[tuple[str, Row]]) -> None:
    found = pair([due(tool, None, **arguments) for tool, arguments in wanted], calls(*given_))
    exact, wrong, missing, extra = counts(found)
    assert exact + wrong + missing == len(wanted)
    places = [one.step.index for _, one in found.exact] + [one.made.step.index for one in found.wrong]
    assert sorted([*places, *(one.step.index for one in found.extra)]) == list(range(len(given_)))
    assert exact + wrong + extra == len(given_)
    assert all(one.names for one in found.wrong)


@given(CALLS, st.randoms(use_true_random=False))
def test_doing_what_is_due_in_any_order_leaves_no_difference(
    wanted: list[tuple[str, Row]], shuffled: random.Random
) -> None:
    order = list(wanted)
    shuffled.shuffle(order)
    assert counts(pair([due(tool, None, **arguments) for tool, arguments in wanted], calls(*order))) == (
        len(wanted),
        0,
        0,
        0,
    )


# Arguments written to break the comparison.

HOSTILE = [
    "not JSON",
    "{",
    '"text"',
    "[[[]]]",
    "null",
    "NaN",
    '{"a": NaN}',
    '{"a": 1e999}',
    '{"a": ' + "9" * 5_000 + "}",
    '{"a": "\\ud800"}',
    '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "[" * 100_000,
    '{"": {"": {"": ""}}}',
    "\x00",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_arguments_are_compared_and_never_raise(text: str) -> None:
    (one,) = calls(("set", text))
    assert counts(pair([due("set", a=1, b=2)], [one]))[2:] in ((0, 0), (1, 1))
    assert sum(counts(pair([DueCall(tool="set", arguments=dict(one.arguments))], [one]))) == 1


def test_arguments_nested_deep_on_both_sides_are_compared() -> None:
    text = json.dumps({"a": None}).replace("null", "[" * 600 + "]" * 600)
    (one,) = calls(("set", text))
    assert sum(counts(pair([DueCall(tool="set", arguments=dict(one.arguments))], [one]))) == 1
