"""Rollouts in which the simulated user kept back what its script gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.simulated_user import Withheld, facts, withheld
from blade.model.diagnosis import Diagnosis
from builders import Row, call, result, rollout, said, write_jsonl

SCRIPT = "You are Mia Li, your user id is mia_li_3668. Cancel JG7FMM, you booked it on May 3rd."
KEY = [{"name": "cancel_reservation", "kwargs": {"user_id": "mia_li_3668", "reservation_id": "JG7FMM"}}]
ASKS = said("Please give me your user ID.")
PUT_OFF = said("I don't remember it, sorry.", "user")
GIVES = said("mia_li_3668, and cancel JG7FMM.", "user")
CANCELS = call("cancel_reservation", json.dumps(KEY[0]["kwargs"]))


def kept(folder: Path, *repeats: tuple[bool, list[Row]], **fields: Any) -> list[Withheld]:
    """What was withheld in the repeats of one task."""
    about = {"user_instruction": SCRIPT, "expected_actions": KEY} | fields
    rows = [rollout("t", repeat=n, passed=passed, output=items, **about) for n, (passed, items) in enumerate(repeats)]
    run = blade.load_run(write_jsonl(folder / "run.jsonl", rows))
    return withheld([AlignedTrajectory(rollout=run["t", n]) for n in range(len(rows))])


def test_an_id_that_is_asked_for_and_put_off_is_withheld(tmp_path: Path) -> None:
    (one,) = kept(tmp_path, (False, [ASKS, PUT_OFF, said("Then I cannot help.")]))
    assert (one.fact, one.argument, one.walk.repeat) == ("mia_li_3668", "user_id", 0)
    assert one.reply is not None
    assert (one.reply.step, one.reply.quote) == (1, "I don't remember it, sorry.")


def test_a_rollout_is_listed_once_though_several_facts_are_kept_back(tmp_path: Path) -> None:
    asks = said("Your user ID and reservation ID, please.")
    assert [one.fact for one in kept(tmp_path, (False, [asks, PUT_OFF]))] == ["mia_li_3668"]


def test_a_fact_may_be_known_from_the_calls_of_another_repeat(tmp_path: Path) -> None:
    found = kept(tmp_path, (True, [ASKS, GIVES, CANCELS, result("ok")]), (False, [ASKS, PUT_OFF]), expected_actions=[])
    assert [(one.walk.repeat, one.fact, one.argument) for one in found] == [(1, "mia_li_3668", "user_id")]


@pytest.mark.parametrize(
    ("passed", "items"),
    [
        (True, [ASKS, PUT_OFF]),
        (False, [ASKS, GIVES]),
        (False, [said("How can I help?"), PUT_OFF]),
        (False, [ASKS, PUT_OFF, CANCELS]),
        (False, []),
    ],
    ids=["it passed", "it was given", "it was not asked for", "it was used all the same", "no trajectory"],
)
def test_nothing_is_withheld(tmp_path: Path, passed: bool, items: list[Row]) -> None:
    assert kept(tmp_path, (passed, items)) == []


def test_without_a_script_nothing_is_withheld(tmp_path: Path) -> None:
    assert kept(tmp_path, (False, [ASKS, PUT_OFF]), user_instruction=None) == []


def test_a_fact_that_no_call_uses_is_not_needed(tmp_path: Path) -> None:
    assert kept(tmp_path, (False, [ASKS, PUT_OFF]), expected_actions=[]) == []


def kept_back(folder: Path) -> Diagnosis:
    """The diagnosis of a task with one pass, and one failure that the user caused."""
    about: Row = {"user_instruction": SCRIPT, "expected_actions": KEY}
    rows = [
        rollout("t", repeat=0, passed=True, output=[ASKS, GIVES, CANCELS, result("ok")], **about),
        rollout("t", repeat=1, output=[ASKS, PUT_OFF, said("Then I cannot help.")], **about),
    ]
    (one,) = blade.analyze(write_jsonl(folder / "run.jsonl", rows)).runs
    assert one.diagnosis is not None
    return one.diagnosis


def test_it_becomes_a_doubt_about_the_benchmark(tmp_path: Path) -> None:
    found = kept_back(tmp_path)
    (contrast,) = found.contrasts
    assert [divergence.party for divergence in contrast.divergences] == ["user"]
    assert [(doubt.about, doubt.tasks, doubt.rollouts) for doubt in found.doubts] == [("user", ("t",), 1)]


def test_it_becomes_a_finding_about_the_user(tmp_path: Path) -> None:
    found = kept_back(tmp_path)
    assert [(finding.id, finding.kind) for finding in found.findings if "t#1" in finding.locations] == [
        ("user-withheld", "harness")
    ]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (None, ()),
        ("", ()),
        ("You want a window seat.", ()),
        ("You are mia_li_3668.", ("mia_li_3668",)),
        ("Order #W5490111, zip 19122.", ("#W5490111", "19122")),
        ("Mail ann.lee@example.com", ("ann.lee@example.com",)),
        ("on May 3rd at 10am, 2 bags", ()),
        ("JG7FMM and JG7FMM", ("JG7FMM",)),
    ],
)
def test_facts_of_a_script(script: str | None, found: tuple[str, ...]) -> None:
    assert facts(script) == found


def test_what_the_user_kept_back_is_not_left_out_by_the_agent(tmp_path: Path) -> None:
    about: Row = {"user_instruction": SCRIPT, "expected_actions": KEY}
    forgets = [ASKS, GIVES, call("get_user", '{"user_id": "mia_li_3668"}'), result("Mia"), said("That is you.")]
    outputs = [[ASKS, PUT_OFF, said("Come back when you have it.")], forgets, forgets]
    rows = [rollout("t", repeat=n, output=items, **about) for n, items in enumerate(outputs)]
    diagnosis = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs[0].diagnosis
    assert diagnosis is not None
    places = {finding.id: finding.locations for finding in diagnosis.findings}
    assert places == {"action-missing:cancel_reservation": ("t#1", "t#2"), "user-withheld": ("t#0",)}
