"""Signs of chat agents: each where it applies, and where it must not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blade.evidence.signs.chat import chat_signs
from blade.model.finding import Sign
from builders import Row, call, load_rows, result, rollout, said
from evidence import stands_in

SCRIPT = "You are Mia Li, your user id is mia_li_3668. Cancel JG7FMM."
CANCEL: Row = {"name": "cancel_booking", "arguments": {"booking_id": "JG7FMM"}}
MOVE: Row = {"name": "update_booking", "arguments": {"booking_id": "JG7FMM", "cabin": "economy", "bags": 2}}
LOOK: Row = {"name": "get_user", "arguments": {"user_id": "mia_li_3668"}}
ASKS, GIVES = said("Your user ID, please?"), said("It is mia_li_3668.", "user")


def made(action: Row, call_id: str = "c1", **changed: object) -> list[Row]:
    return [call(action["name"], json.dumps(action["arguments"] | changed), call_id), result("ok", call_id)]


def signs(folder: Path, key: list[Row], output: list[Row], *, passed: bool = False, **fields: Any) -> list[Sign]:
    """The signs of the one rollout; every quote stands where it says."""
    row = rollout(
        "t", repeat=0, passed=passed, output=output, **({"expected_actions": key, "user_instruction": SCRIPT} | fields)
    )
    found = list(chat_signs(load_rows(folder, row)["t", 0]))
    for sign in found:
        place = {"step": sign.step, "field": sign.field, "quote": sign.quote}
        assert not sign.quote or stands_in(place, row), sign
    return found


def kinds(found: list[Sign]) -> list[tuple[str, str]]:
    return [(sign.kind, sign.subject) for sign in found]


def test_nothing_done_is_missing_and_something_left_out_is_partial(tmp_path: Path) -> None:
    assert kinds(signs(tmp_path, [LOOK, CANCEL], [ASKS, GIVES, *made(LOOK)])) == [("action:missing", "cancel_booking")]
    assert kinds(signs(tmp_path, [MOVE, CANCEL], [GIVES, *made(MOVE)])) == [("action:partial", "cancel_booking")]


def test_an_argument_is_wrong_and_so_is_an_object(tmp_path: Path) -> None:
    assert kinds(signs(tmp_path, [MOVE], [GIVES, *made(MOVE, cabin="business")])) == [
        ("action:wrong-argument", "update_booking.cabin")
    ]
    other = made(CANCEL, booking_id="ZZ8XYQ")
    assert kinds(signs(tmp_path, [CANCEL], [GIVES, *other])) == [
        ("action:wrong-object", "cancel_booking.booking_id"),
        ("made-up-id", "cancel_booking.booking_id"),
    ]
    all_other = made(MOVE, booking_id="ZZ8XYQ", cabin="business", bags=0)
    assert kinds(signs(tmp_path, [MOVE], [GIVES, *all_other])) == [
        ("action:wrong-object", "update_booking.booking_id"),
        ("made-up-id", "update_booking.booking_id"),
    ]


def test_a_change_that_nobody_wanted_is_extra(tmp_path: Path) -> None:
    (sign,) = signs(tmp_path, [LOOK], [GIVES, *made(LOOK), *made(CANCEL, "c2")])
    assert (sign.kind, sign.subject, sign.quote, sign.field) == (
        "action:extra", "cancel_booking", '{"booking_id": "JG7FMM"}', "arguments",
    )  # fmt: skip


def test_a_refused_call_was_not_made(tmp_path: Path) -> None:
    refused = [call(CANCEL["name"], json.dumps(CANCEL["arguments"])), result("Error: not found")]
    found = [("action:missing", "cancel_booking"), ("call:refused", "cancel_booking")]
    assert kinds(signs(tmp_path, [CANCEL], [GIVES, *refused])) == found


def test_arguments_that_are_no_json_are_named(tmp_path: Path) -> None:
    broken = [call(CANCEL["name"], "{'booking': "), result("Error: cannot decode the arguments")]
    found = [("action:missing", "cancel_booking"), ("call:unreadable", "cancel_booking")]
    assert kinds(signs(tmp_path, [CANCEL], [GIVES, *broken])) == found


def test_order_counts_only_where_everything_else_is_right(tmp_path: Path) -> None:
    swapped = [GIVES, *made(CANCEL, "c1"), *made(MOVE, "c2")]
    assert kinds(signs(tmp_path, [MOVE, CANCEL], swapped)) == [("action:wrong-order", "cancel_booking")]
    assert kinds(signs(tmp_path, [CANCEL, MOVE], swapped)) == []
    assert kinds(signs(tmp_path, [MOVE, CANCEL], swapped, passed=True)) == [("action:wrong-order", "cancel_booking")]


def test_lookups_and_statements(tmp_path: Path) -> None:
    found = signs(
        tmp_path, [LOOK, CANCEL], [GIVES, *made(CANCEL), said("It is $1,050.")], expected_outputs=["1050", "7"]
    )
    assert kinds(found) == [("lookup:skipped", "get_user"), ("statement:missing", "7")]


@pytest.mark.parametrize(
    ("key", "output", "needless"),
    [
        ([CANCEL], [GIVES, *made({"name": "transfer_to_human_agents", "arguments": {"summary": "s"}})], True),
        ([LOOK], [GIVES, *made(LOOK), *made({"name": "transfer_to_human_agents", "arguments": {}}, "c2")], False),
        ([CANCEL, {"name": "transfer_to_human_agents", "arguments": {}}],
         [GIVES, *made({"name": "transfer_to_human_agents", "arguments": {}})], False),
        ([CANCEL], [GIVES, *made({"name": "transfer_file", "arguments": {}})], False),
        ([CANCEL], [said("Please transfer me to a human.", "user"), *made({"name": "transfer_to_human_agents", "arguments": {}})], False),
    ],
    ids=["instead of acting", "nothing was due", "the key wants it", "no person", "the user asked for it"],
)  # fmt: skip
def test_a_needless_transfer(tmp_path: Path, key: list[Row], output: list[Row], needless: bool) -> None:
    assert ("transfer:needless" in {sign.kind for sign in signs(tmp_path, key, output)}) is needless


def test_a_row_without_a_key_of_calls_has_no_such_sign(tmp_path: Path) -> None:
    row = rollout("t", repeat=0, output=[GIVES, *made(CANCEL)], expected_answer="B")
    assert list(chat_signs(load_rows(tmp_path, row)["t", 0])) == []


def test_parts_of_the_verdict_that_do_not_hold(tmp_path: Path) -> None:
    account = {
        "reward_missing": False,
        "db_check": {"db_match": False},
        "action_checks": [
            {"action": {"name": "cancel_booking"}, "action_match": False},
            {"action": {"name": "get_user"}, "action_match": True},
        ],
        "communicate_checks": [{"info": "1050", "met": False}],
    }
    found = signs(tmp_path, [CANCEL], [GIVES, *made(CANCEL)], some_account=account)
    assert [(s.kind, s.subject, s.field) for s in found] == [
        ("verifier-part:db_check", "", "some_account.db_check.db_match"),
        ("verifier-part:action_checks", "cancel_booking", "some_account.action_checks.0.action_match"),
        ("verifier-part:communicate_checks", "1050", "some_account.communicate_checks.0.met"),
    ]
    assert signs(tmp_path, [CANCEL], [GIVES, *made(CANCEL)], some_account=account, passed=True) == []


def test_the_users_own_calls_are_compared_where_they_are_recorded(tmp_path: Path) -> None:
    key = [CANCEL | {"requestor": "assistant"}, {"name": "toggle_data", "arguments": {}, "requestor": "user"}]
    acts = [call("reboot_phone", "{}", "u1") | {"actor": "user"}, result("ok", "u1")]
    found = kinds(signs(tmp_path, key, [GIVES, *acts, *made(CANCEL)]))
    assert found == [("user-action:missing", "toggle_data"), ("user-action:extra", "reboot_phone")]
    assert kinds(signs(tmp_path, key, [GIVES, *made(CANCEL)])) == [], "the user's calls are not in the transcript"


@pytest.mark.parametrize(
    ("output", "withheld"),
    [
        ([ASKS, said("I don't have it with me.", "user"), said("Then I cannot help.")], True),
        ([ASKS, said("I don't have it with me.", "user"), said("Then?"), GIVES], False),
        ([said("How can I help?"), said("Cancel my flight.", "user")], False),
        ([ASKS, said("My name is Mia Li.", "user"), *made(LOOK)], False),
        ([ASKS], False),
    ],
    ids=["put off", "given later", "never asked", "found otherwise", "nobody replied"],
)
def test_who_the_user_is_may_be_withheld(tmp_path: Path, output: list[Row], withheld: bool) -> None:
    found = [sign for sign in signs(tmp_path, [CANCEL], output) if sign.kind == "user:withheld"]
    assert bool(found) is withheld
    assert all((sign.subject, sign.step) == ("mia_li_3668", 1) for sign in found)
    assert not any(sign.kind == "user:withheld" for sign in signs(tmp_path, [CANCEL], output, passed=True))


SHALL = said("Shall I cancel JG7FMM?")


@pytest.mark.parametrize(
    ("output", "early"),
    [
        ([GIVES, SHALL, said("Yes, please go ahead. ###STOP###", "user")], True),
        ([GIVES, SHALL, said("Yes, please go ahead.", "user"), *made(CANCEL, booking_id="OTHER77")], False),
        ([GIVES, *made(CANCEL), said("All done."), said("Thanks! ###STOP###", "user")], False),
        ([GIVES, said("Shall I transfer you to a human?"), said("Yes, please transfer me. ###TRANSFER###", "user")], False),
        ([GIVES, SHALL, said("Go ahead with it, and I wait for the transfer. ###TRANSFER###", "user")], True),
        ([GIVES, said("No, that is not allowed."), said("All right, thank you. ###STOP###", "user")], False),
        ([said("Which booking?"), said("JG7FMM. Thank you! ###STOP###", "user")], True),
    ],
    ids=["agrees and leaves", "the agent acts after it", "everything is done", "accepts a transfer", "and more", "gives in", "first turn"],
)  # fmt: skip
def test_a_user_that_leaves_before_the_agent_can_act(tmp_path: Path, output: list[Row], early: bool) -> None:
    assert ("user:left-early" in {sign.kind for sign in signs(tmp_path, [CANCEL], output)}) is early


def test_a_limit_is_no_user_that_leaves(tmp_path: Path) -> None:
    output = [GIVES, SHALL, said("Yes, please go ahead.", "user")]
    found = signs(tmp_path, [CANCEL], output, termination_reason="max_steps")
    assert "user:left-early" not in {sign.kind for sign in found}


def test_an_id_that_the_user_made_up(tmp_path: Path) -> None:
    assert kinds(signs(tmp_path, [CANCEL], [GIVES, said("The booking is #QQ77ZZ1.", "user"), *made(CANCEL)])) == [
        ("user:off-script", "#QQ77ZZ1")
    ]
    repeated = [GIVES, said("I see QQ77ZZ1 and JG7FMM."), said("QQ77ZZ1, but cancel JG7FMM.", "user"), *made(CANCEL)]
    assert kinds(signs(tmp_path, [CANCEL], repeated)) == []


def test_a_key_of_another_row_is_seen_and_its_user_left_in_peace(tmp_path: Path) -> None:
    talk = [ASKS, said("I am raj_sanchez_7340.", "user"), said("Which booking?"), said("I don't have it.", "user")]
    (missing, foreign) = signs(tmp_path, [LOOK, CANCEL], [*talk, *made({"name": "get_user", "arguments": {}})])
    assert missing.kind == "action:missing"
    assert (foreign.kind, foreign.subject, foreign.step) == ("key:foreign", "raj_sanchez_7340|mia_li_3668", 1)
    corrected = [*talk, said("Sorry, I am mia_li_3668.", "user")]
    assert "key:foreign" not in {sign.kind for sign in signs(tmp_path, [CANCEL], corrected)}


@pytest.mark.parametrize(
    ("said_last", "quoted"),
    [
        ("Thanks. Booking JG7FMM is a basic fare. It cannot be cancelled.", "It cannot be cancelled."),
        ("A cancellation of this booking isn't allowed under the policy.", None),
        ("If you can't find the booking, look into your mail.", ""),
        ("Which booking cannot wait?", ""),
        ("The weather cannot be helped.", ""),
    ],
)
def test_what_the_agent_says_against_an_action(tmp_path: Path, said_last: str, quoted: str | None) -> None:
    found = signs(tmp_path, [CANCEL], [GIVES, *made(LOOK), said(said_last)])
    against = [sign.quote for sign in found if sign.kind == "declined:action"]
    assert against == ([] if quoted == "" else [quoted if quoted is not None else said_last])


def test_a_request_that_the_user_takes_back(tmp_path: Path) -> None:
    talk = [ASKS, GIVES, *made(LOOK), said("Shall I cancel it?"), said("Actually, never mind. Bye! ###STOP###", "user")]
    found = [sign.quote for sign in signs(tmp_path, [CANCEL], talk) if sign.kind == "user:withdrew"]
    assert len(found) == 1
    assert "never mind" in found[0]
    assert ("user:withdrew", "") not in kinds(signs(tmp_path, [CANCEL], [*talk, *made(CANCEL, call_id="c2")]))
