"""Passing against failing repeats of one task: whose doing it is, what only one side has, and lucky passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.model.diagnosis import Contrast, Divergence
from blade.model.finding import Evidence
from builders import Row, call, result, rollout, said, write_jsonl

SCRIPT = "You are Mia Li, your user id is mia_li_3668. You want to cancel reservation JG7FMM."
CANCEL: Row = {"name": "cancel_reservation", "kwargs": {"reservation_id": "JG7FMM"}}


def user(text: str) -> list[Row]:
    return [said(text, "user")]


def agent(text: str) -> list[Row]:
    return [said(text)]


def act(tool: str, found: str = "ok", **arguments: object) -> list[Row]:
    """A call and its result, joined by an id of their own."""
    name = f"{tool} {json.dumps(arguments)} {found}"
    return [call(tool, json.dumps(arguments), name), result(found, name)]


def walk(*parts: list[Row]) -> list[Row]:
    return [item for part in parts for item in part]


def contrast(folder: Path, *repeats: tuple[bool, list[Row]], **fields: Any) -> Contrast:
    """The contrast of a task with these repeats, each given as whether it passed and its trajectory."""
    rows = [
        rollout("t", repeat=place, passed=passed, output=output, **fields)
        for place, (passed, output) in enumerate(repeats)
    ]
    _, found = blade.explain(blade.load_run(write_jsonl(folder / "run.jsonl", rows)), "t")
    assert found is not None
    return found


def only(found: Contrast) -> Divergence:
    (one,) = found.divergences
    return one


def said_at(evidence: Evidence | None) -> tuple[int | None, str, str]:
    """Step, field and quote."""
    assert evidence is not None
    return evidence.step, evidence.field, evidence.quote


# The user.

TOLD = walk(
    agent("What is your user ID?"),
    user("It is mia_li_3668."),
    act("get_user_details", user_id="mia_li_3668"),
    act("cancel_reservation", reservation_id="JG7FMM"),
)


def test_a_fact_of_the_script_that_was_asked_for_and_never_given_is_the_users_doing(tmp_path: Path) -> None:
    withheld = walk(agent("What is your user ID?"), user("I don't have that at hand."), agent("Then I cannot help."))
    one = only(contrast(tmp_path, (True, TOLD), (False, withheld), user_instruction=SCRIPT, expected_actions=[CANCEL]))
    assert (one.party, one.failing, one.passing) == ("user", 1, 0)
    assert "`mia_li_3668`" in one.what
    assert said_at(one.failed.evidence) == (1, "text", "I don't have that at hand.")
    assert said_at(one.passed.evidence) == (1, "text", "It is mia_li_3668.")


def test_a_fact_that_the_agent_never_asks_for_is_the_agents_doing(tmp_path: Path) -> None:
    hasty = walk(agent("How can I help?"), user("Cancel my flight, please."), agent("I cannot do that."))
    one = only(contrast(tmp_path, (True, TOLD), (False, hasty), user_instruction=SCRIPT, expected_actions=[CANCEL]))
    assert one.party == "agent"
    assert "never asks for `user_id`" in one.what


def test_a_fact_that_was_given_is_not_withheld(tmp_path: Path) -> None:
    heard = walk(agent("What is your user ID?"), user("mia_li_3668"), agent("I cannot cancel it."))
    one = only(contrast(tmp_path, (True, TOLD), (False, heard), user_instruction=SCRIPT, expected_actions=[CANCEL]))
    assert one.party == "agent"
    assert "mia_li_3668" not in one.what


def test_a_fact_that_no_script_holds_is_not_withheld(tmp_path: Path) -> None:
    put_off = walk(agent("What is your user ID?"), user("I don't have that at hand."), agent("Then I cannot help."))
    one = only(contrast(tmp_path, (True, TOLD), (False, put_off), expected_actions=[CANCEL]))
    assert one.party == "agent"


def test_an_argument_named_inside_another_word_was_not_asked_for(tmp_path: Path) -> None:
    good = walk(agent("Who are you?"), user("It is mia_li_3668."), act("get_user", id="mia_li_3668"))
    bad = walk(agent("What did you want?"), user("A refund, please."), agent("No."))
    assert only(contrast(tmp_path, (True, good), (False, bad), user_instruction=SCRIPT)).party == "agent"


# The tools.


def test_the_same_call_refused_on_one_side_is_the_tools_doing(tmp_path: Path) -> None:
    good = walk(act("get_order", "order 7: open", id="7"), act("cancel_order", id="7"), agent("Done."))
    bad = walk(act("get_order", "Error: database is busy", id="7"), agent("I cannot see your order."))
    one = only(contrast(tmp_path, (True, good), (False, bad)))
    assert (one.party, one.shared) == ("tool", 1)
    assert "`get_order`" in one.what
    assert said_at(one.failed.evidence) == (1, "text", "Error: database is busy")
    assert said_at(one.passed.evidence) == (1, "text", "order 7: open")


def test_a_refusal_that_both_sides_met_is_not_the_tools_doing(tmp_path: Path) -> None:
    refused = act("get_order", "Error: database is busy", id="7")
    good = walk(refused, act("cancel_order", id="7"), agent("Done."))
    one = only(contrast(tmp_path, (True, good), (False, walk(refused, agent("Sorry.")))))
    assert one.party == "agent"


def test_a_refusal_that_a_second_try_mended_is_not_the_tools_doing(tmp_path: Path) -> None:
    detect, busy = act("get_order", "order 7: open", id="7"), act("get_order", "Error: database is busy", id="7")
    good = walk(detect, agent("I cannot cancel this order."))
    bad = walk(busy, detect, agent("You are eligible."), act("cancel_order", id="7"))
    assert only(contrast(tmp_path, (True, good), (False, bad), expected_actions=[])).party == "agent"


def test_a_refusal_of_another_call_is_not_the_tools_doing(tmp_path: Path) -> None:
    good = walk(act("get_order", "order 7: open", id="7"), agent("Done."))
    bad = walk(act("get_order", "Error: no such order", id="8"), agent("Sorry."))
    assert only(contrast(tmp_path, (True, good), (False, bad))).party == "agent"


# The agent.


def test_a_call_that_the_key_has_not_is_quoted_with_the_words_before_it(tmp_path: Path) -> None:
    detect = act("get_order", "order 7: open", id="7")
    good = walk(detect, agent("I cannot cancel this order, since it is not yours."))
    bad = walk(detect, agent("You are eligible, so I cancel it."), act("cancel_order", id="7"), agent("Done."))
    one = only(contrast(tmp_path, (True, good), (False, bad), expected_actions=[]))
    assert (one.party, one.shared) == ("agent", 1)
    assert "`cancel_order`" in one.what
    assert said_at(one.failed.before) == (2, "text", "You are eligible, so I cancel it.")
    assert said_at(one.failed.evidence) == (3, "arguments", '{"id": "7"}')
    assert said_at(one.passed.evidence) == (2, "text", "I cannot cancel this order, since it is not yours.")


def test_another_argument_is_told_with_both_values_and_where_the_wrong_one_stood(tmp_path: Path) -> None:
    detect = act("get_user", "cards: visa_1111, amex_2222", id="7")
    key = [{"name": "pay_order", "kwargs": {"order": "W77", "card": "amex_2222"}}]
    good = walk(detect, act("pay_order", order="W77", card="amex_2222"))
    bad = walk(detect, agent("I take the first card."), act("pay_order", order="W77", card="visa_1111"))
    one = only(contrast(tmp_path, (True, good), (False, bad), expected_actions=key))
    assert one.party == "agent"
    assert all(part in one.what for part in ("`pay_order`", "`card` visa_1111", "`card` amex_2222", ":1, get_user"))
    assert said_at(one.failed.evidence) == (3, "arguments", '"card": "visa_1111"')
    assert said_at(one.failed.before) == (2, "text", "I take the first card.")
    assert said_at(one.passed.evidence) == (2, "arguments", '"card": "amex_2222"')


def test_a_change_that_is_left_out_is_told_with_what_was_said_instead(tmp_path: Path) -> None:
    detect = act("get_order", "order 7: open", id="7")
    key = [{"name": "cancel_order", "kwargs": {"id": "7"}}]
    good = walk(detect, act("cancel_order", id="7"), agent("Done."))
    bad = walk(detect, agent("Hello again."), agent("Unfortunately I cannot cancel it."))
    one = only(contrast(tmp_path, (True, good), (False, bad), expected_actions=key))
    assert one.party == "agent"
    assert "`cancel_order`" in one.what
    assert said_at(one.failed.evidence) == (3, "text", "Unfortunately I cannot cancel it.")
    assert said_at(one.passed.evidence) == (2, "arguments", '{"id": "7"}')


def test_without_a_key_the_first_parting_is_told(tmp_path: Path) -> None:
    detect = act("get_order", "order 7: open", id="7")
    good = walk(detect, act("list_items", id="7"), agent("Three."))
    bad = walk(detect, act("get_user", id="1"), agent("Two."))
    one = only(contrast(tmp_path, (True, good), (False, bad)))
    assert (one.party, one.shared) == ("agent", 1)
    assert "`get_user`" in one.what
    assert "`list_items`" in one.what


def test_the_same_words_that_were_judged_otherwise_are_called_that(tmp_path: Path) -> None:
    found = contrast(tmp_path, (True, agent("I get 11")), (False, agent("I get 11")))
    assert only(found).what == "does and says the same, and is judged otherwise"


def test_the_passing_repeat_that_goes_the_same_way_longest_is_set_beside(tmp_path: Path) -> None:
    one, two, three = (act("get_order", id=n) for n in "123")
    found = contrast(
        tmp_path, (True, walk(one)), (True, walk(one, two, three)), (False, walk(one, two)), (True, walk(one, two))
    )
    assert (only(found).passing, only(found).shared) == (1, 2)
    assert (found.passing, found.failing) == ((0, 1, 3), (2,))


def test_every_failing_repeat_with_a_trajectory_has_its_divergence(tmp_path: Path) -> None:
    good, bad = walk(act("get_order", id="7"), agent("Seven.")), walk(agent("Eight."))
    found = contrast(tmp_path, (True, good), (False, bad), (False, []), (False, bad))
    assert [one.failing for one in found.divergences] == [1, 3]


# What only one side has.


def test_tools_changes_and_arguments_that_only_one_side_has(tmp_path: Path) -> None:
    good = walk(
        act("search_events", attendee="mia", day="2023-11-01"), act("get_event", id="1"), act("delete_event", id="1")
    )
    bad = walk(act("search_events", attendee="mia"), act("count_events"), act("delete_event", id="2"))
    found = contrast(tmp_path, (True, good), (True, good), (False, bad))
    assert found.only_passing == (
        "`get_event`",
        "`day` of `search_events`",
        "`id` of `get_event`",
        '`delete_event({"id": "1"})`',
    )
    assert found.only_failing == ("`count_events`", '`delete_event({"id": "2"})`')


def test_what_one_passing_repeat_does_without_is_not_listed(tmp_path: Path) -> None:
    with_day, without = act("search_events", attendee="mia", day="2023-11-01"), act("search_events", attendee="mia")
    assert contrast(tmp_path, (True, with_day), (True, without), (False, without)).only_passing == ()


def test_what_one_failing_repeat_does_too_is_not_listed(tmp_path: Path) -> None:
    with_day, without = act("search_events", attendee="mia", day="2023-11-01"), act("search_events", attendee="mia")
    assert contrast(tmp_path, (True, with_day), (False, with_day), (False, without)).only_passing == ()


@pytest.mark.parametrize("empty", ["", None])
def test_an_argument_given_empty_is_not_given(tmp_path: Path, empty: str | None) -> None:
    found = contrast(tmp_path, (True, act("search_events", day="2023-11-01")), (False, act("search_events", day=empty)))
    assert found.only_passing == ("`day` of `search_events`",)


@pytest.mark.parametrize("empty", [[], {}])
def test_an_argument_given_as_an_empty_list_is_not_given(tmp_path: Path, empty: object) -> None:
    found = contrast(tmp_path, (True, act("search_events", days=["1"])), (False, act("search_events", days=empty)))
    assert found.only_passing == ("`days` of `search_events`",)


def test_a_refused_change_is_not_a_change_of_the_passing_side(tmp_path: Path) -> None:
    good = walk(act("delete_event", "Error: locked", id="1"), act("delete_event", id="1"))
    bad = walk(act("delete_event", "Error: locked", id="1"))
    assert contrast(tmp_path, (True, good), (False, bad)).only_passing == ('`delete_event({"id": "1"})`',)


# Lucky passes.

LOOKED = walk(act("get_order", id="7"), act("get_policy"), agent("No."))


def test_a_pass_that_did_less_than_every_failure_is_lucky(tmp_path: Path) -> None:
    found = contrast(tmp_path, (True, walk(act("get_order", id="7"), agent("No."))), (False, LOOKED), (False, LOOKED))
    assert found.lucky == (0,)


def test_a_pass_that_called_nothing_where_all_failures_looked_is_lucky(tmp_path: Path) -> None:
    assert contrast(tmp_path, (True, agent("No.")), (False, LOOKED)).lucky == (0,)


@pytest.mark.parametrize(
    ("passing", "failing"),
    [
        (LOOKED, [LOOKED]),
        (walk(act("get_order", id="7")), [LOOKED, agent("No.")]),
        (walk(act("list_orders")), [LOOKED]),
        (walk(act("get_order", id="7")), [walk(act("get_order", id="7"), act("cancel_order", id="7"))]),
    ],
    ids=["as many calls", "one failure did less", "another tool", "only a change is left out"],
)
def test_a_pass_is_not_called_lucky(tmp_path: Path, passing: list[Row], failing: list[list[Row]]) -> None:
    assert contrast(tmp_path, (True, passing), *((False, one) for one in failing)).lucky == ()


def test_a_task_without_both_outcomes_has_no_contrast(tmp_path: Path) -> None:
    run = blade.load_run(write_jsonl(tmp_path / "run.jsonl", [rollout("t", repeat=n) for n in range(2)]))
    deep_dive, found = blade.explain(run, "t")
    assert (deep_dive.bucket, found) == ("never_pass", None)


def test_calls_of_one_message_are_quoted_each_for_itself(tmp_path: Path) -> None:
    """The second of two calls in one chat message differs: its own arguments are shown, not the first one's."""

    def chat(*calls: tuple[str, Row]) -> list[Row]:
        made = [
            {"id": str(n), "function": {"name": tool, "arguments": json.dumps(arguments)}}
            for n, (tool, arguments) in enumerate(calls)
        ]
        return [{"role": "assistant", "content": "", "tool_calls": made}]

    key = [{"name": "pay", "kwargs": {"n": 1}}, {"name": "ship", "kwargs": {"to": "Oslo", "n": 1}}]
    good = chat(("pay", {"n": 1}), ("ship", {"to": "Oslo", "n": 1}))
    bad = chat(("pay", {"n": 1}), ("ship", {"to": "Rome", "n": 1}))
    one = only(contrast(tmp_path, (True, good), (False, bad), expected_actions=key))
    assert said_at(one.failed.evidence) == (0, "arguments", '"to": "Rome"')


# Talk without calls.
def test_two_talks_part_at_the_first_message_that_differs(tmp_path: Path) -> None:
    north, other = "<action>go north</action>", "I will go north."
    won = walk(agent(north), user("Room 1."), agent(north), user("Room 2."))
    lost = walk(agent(north), user("Room 1."), agent(other), user("Nothing happens."))
    one = only(contrast(tmp_path, (True, won), (False, lost)))
    assert said_at(one.failed.evidence) == (2, "text", other)
    assert said_at(one.passed.evidence) == (2, "text", north)


def test_quotes_of_two_talks_are_the_sentences_that_differ(tmp_path: Path) -> None:
    same = (
        "Because of the storm the harbour is closed, and so the ship cannot leave before the morning tide comes in. "
        * 2
    )
    one = only(contrast(tmp_path, (True, agent(f"{same}We sail at nine.")), (False, agent(f"{same}We sail at ten."))))
    assert (said_at(one.failed.evidence)[2], said_at(one.passed.evidence)[2]) == ("We sail at ten.", "We sail at nine.")


def test_equal_quotes_are_never_set_against_each_other(tmp_path: Path) -> None:
    won = walk(agent("go on"), user("Room 1."), agent("go on"))
    one = only(contrast(tmp_path, (True, won), (False, walk(agent("go on"), user("You fell.")))))
    assert one.what == "says the same as far as it goes, and ends sooner"
    assert one.passed.evidence is None
