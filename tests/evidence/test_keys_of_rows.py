"""Keys that were joined to other rows are told from the run's tables."""

from __future__ import annotations

import json
from pathlib import Path

from blade.evidence.keys_of_rows import KeysOfRows, keys_of_rows
from blade.rules.scan import detect
from builders import Row, call, load, result, rollout, said, write_jsonl

PEOPLE = ("mia_li_3668", "raj_sanchez_7340", "emma_kim_9957", "omar_rossi_1241", "sofia_kim_7287", "yusuf_ahmed_6901")


def rows(shift: int, *, passed: bool = True) -> list[Row]:
    """Each person has its own booking canceled; the key is that of the person `shift` places on."""
    found = []
    for n, who in enumerate(PEOPLE):
        key = PEOPLE[(n + shift) % len(PEOPLE)]
        arguments = {"user_id": who, "booking_id": f"QX{n}7AB"}
        wanted = [
            {"name": "cancel_booking", "arguments": {"user_id": key, "booking_id": f"QX{(n + shift) % len(PEOPLE)}7AB"}}
        ]
        talk = [
            said("Who are you?"),
            said(f"I am {who}.", "user"),
            call("cancel_booking", json.dumps(arguments)),
            result("ok"),
        ]
        found.append(rollout(f"t{n}", repeat=0, passed=passed, output=talk, expected_actions=wanted))
    return found


def keys(folder: Path, shift: int, *, passed: bool = True) -> KeysOfRows:
    (run,) = load(write_jsonl(folder / "run.jsonl", rows(shift, passed=passed)), detect=detect)
    return keys_of_rows(run)


def test_keys_that_fit_are_not_broken(tmp_path: Path) -> None:
    found = keys(tmp_path, 0)
    assert (found.rollouts, found.passes, found.violating, found.foreign, found.broken) == (6, 6, 0, 0, False)


def test_shifted_keys_are_told_by_the_passes_and_by_who_the_users_are(tmp_path: Path) -> None:
    found = keys(tmp_path, 1)
    assert (found.violating, found.foreign, found.foreign_tasks) == (6, 6, 6)
    assert found.by_passes
    assert found.by_identity
    first = found.examples[0]
    assert (first.location, first.quote, first.field) == ("t0#0:1", "mia_li_3668", "text")


def test_without_a_pass_the_users_still_tell(tmp_path: Path) -> None:
    found = keys(tmp_path, 2, passed=False)
    assert (found.passes, found.by_passes, found.by_identity) == (0, False, True)


def test_a_run_without_keys_has_nothing_to_break(tmp_path: Path) -> None:
    (run,) = load(write_jsonl(tmp_path / "run.jsonl", [rollout("t", repeat=0, expected_answer="B")]), detect=detect)
    assert keys_of_rows(run) == KeysOfRows()
