"""Instructions that published checkers check: rewards, fields, and what cannot be checked."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from blade.model.errors import RequestError
from blade_gym.environment import NoVerdict, Verdict
from blade_gym.sandbox import walls
from blade_gym.sandbox.worker import OutOfBounds, Worker
from blade_gym.verifiers import instruction_constraints

DIFFERENTIAL = Path(__file__).parents[1] / "differential"
COMMA, SEA = "punctuation:no_comma", "keywords:existence"
ONLY_BROKEN = {"custom:european_capitals_sort"}
"""Checked on a wrong answer alone."""
NO_DATA = {"words:start_verb"}
"""NLTK's tagger, which they need, is in no package."""


def judged(names: list[str], given: list[Any], text: str, **more: Any) -> Verdict:
    row = {"verifier_metadata": {"instruction_id_list": names, "kwargs": given, "prompt": "Do it.", **more}}
    return instruction_constraints.verify(row, text, {})


def test_fields_tell_strict_from_loose() -> None:
    found = judged(["detectable_format:json_format", COMMA], [None, {}], "Here it is, as JSON:\n{}")
    assert found.reward == 0.0
    names = ["detectable_format:json_format", COMMA]
    assert found.fields == {
        "verifier_metadata": {"instruction_id_list": names, "kwargs": [None, {}], "prompt": "Do it."},
        "instruction_id_list": names,
        "kwargs": [None, {}],
        "prompt": "Do it.",
        "grading_mode": "binary",
        "follow_instruction_list": [False, False],
        "follow_all_instructions": False,
        "follow_instruction_list_loose": [True, True],
        "follow_all_instructions_loose": True,
        "reward_loose": 1.0,
        "failure_reason": None,
    }


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        ("Sure, here:\nGo.", True),
        ("Go.\nSure, here.", True),
        ("Sure, so:\nGo.\nAnd, so on.", True),
        ("Go, so.", False),
        ("Go,\nso, and\non, on", False),
    ],
)
def test_first_and_last_lines_may_be_left_out_loosely(text: str, loose: bool) -> None:
    found = judged([COMMA], [{}], text).fields
    assert (found["follow_instruction_list"], found["follow_instruction_list_loose"]) == ([False], [loose])


def test_asterisks_may_be_left_out_loosely() -> None:
    found = judged(["startend:quotation"], [{}], '**"So it goes."**').fields
    assert (found["follow_all_instructions"], found["follow_all_instructions_loose"]) == (False, True)


def test_a_config_says_how_rows_without_a_mode_are_graded() -> None:
    row = {"instruction_id_list": [COMMA, SEA], "kwargs": [{}, {"keywords": ["sea"]}]}
    rewards = [
        instruction_constraints.verify(row, "A lake.", config).reward for config in ({}, {"grading_mode": "fraction"})
    ]
    assert rewards == [0.0, 0.5]
    assert (
        instruction_constraints.verify(
            {**row, "grading_mode": "binary"}, "A lake.", {"grading_mode": "fraction"}
        ).reward
        == 0
    )


def test_metadata_goes_before_fields_of_the_row() -> None:
    row = {
        "instruction_id_list": [SEA],
        "kwargs": [{"keywords": ["sea"]}],
        "verifier_metadata": {"kwargs": [{"keywords": ["lake"]}]},
    }
    assert instruction_constraints.verify(row, "A lake.", {}).reward == 1.0


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({}, "instruction_id_list is not a list of names"),
        ({"instruction_id_list": []}, "instruction_id_list is not a list of names"),
        ({"instruction_id_list": [3], "kwargs": [{}]}, "instruction_id_list is not a list of names"),
        ({"instruction_id_list": [COMMA]}, "kwargs is not a list of objects"),
        ({"instruction_id_list": [COMMA], "kwargs": ["x"]}, "kwargs is not a list of objects"),
        ({"instruction_id_list": [COMMA], "kwargs": [{}, {}]}, "1 instructions have 2 kwargs"),
        ({"instruction_id_list": [COMMA], "kwargs": [{}], "grading_mode": "half"}, "grading_mode is 'half'"),
        (
            {"instruction_id_list": [COMMA, "a:b"], "kwargs": [{}, {}]},
            "a:b cannot be checked: no published checker knows it",
        ),
        (
            {"instruction_id_list": ["length_constraints:number_words"], "kwargs": [{"num_words": 3}]},
            "length_constraints:number_words cannot be checked: the row leaves an argument open",
        ),
        (
            {"instruction_id_list": ["keywords:letter_frequency"], "kwargs": [{"letter": "#", "let_frequency": 4}]},
            "keywords:letter_frequency cannot be checked: the row leaves an argument open",
        ),
        ({"instruction_id_list": [SEA], "kwargs": [{"keywords": 3}]}, "keywords:existence cannot be checked"),
    ],
)
def test_a_row_that_cannot_be_checked_gives_no_verdict(row: dict[str, Any], why: str) -> None:
    for text in ("some text", ""):
        with pytest.raises(NoVerdict) as told:
            instruction_constraints.verify(row, text, {})
        assert str(told.value).startswith(why)
        assert (told.value.failure_class, told.value.terminal) == ("skipped", True)


@pytest.mark.slow
def test_a_checker_that_takes_too_long_gives_no_verdict() -> None:
    with pytest.raises(OutOfBounds, match="number_bullet_lists ran out of time"):
        judged(["detectable_format:number_bullet_lists"], [{"num_bullets": 1}], "Go" + " \n" * 100_000)


def test_the_language_of_a_text_is_told_the_same_every_time() -> None:
    # Two languages in a line: which of them langdetect names depends on the samples that it draws.
    text = "la casa mia is red et tout va bien"
    found = {judged(["language:response_language"], [{"language": "it"}], text).reward for _ in range(20)}
    assert len(found) == 1


@pytest.mark.skipif(walls.available() == walls.NONE, reason="without a sandbox the data cannot be hidden")
def test_data_that_is_not_installed_is_named() -> None:
    checkers = [
        path for package in instruction_constraints.CHECKERS if (path := instruction_constraints._folder(package))
    ]
    worker = Worker(instruction_constraints.__name__, packages=instruction_constraints.PACKAGES, reads=checkers)
    try:
        assert worker.ask("followed", [COMMA], [None], "", "Go.") == [[True, True]]
        given = {"capital_frequency": 1, "capital_relation": "at least"}
        with pytest.raises(ValueError, match="capital_word_frequency cannot be checked: the data punkt_tab of NLTK"):
            worker.ask("followed", ["change_case:capital_word_frequency"], [given], "", "GO.")
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("why", "terminal"), [("the data x of NLTK is not installed", False), ("nobody knows it", True)]
)
def test_what_can_be_installed_is_tried_again(monkeypatch: pytest.MonkeyPatch, why: str, terminal: bool) -> None:
    def ask(*words: object) -> object:
        raise ValueError(f"Unchecked: {COMMA} cannot be checked: {why}")

    monkeypatch.setattr(instruction_constraints._WORKER, "ask", ask)
    with pytest.raises(NoVerdict) as failed:
        judged([COMMA], [{}], "Go.")
    assert (failed.value.failure_class, failed.value.terminal) == ("skipped", terminal)


def test_a_machine_without_the_checkers_is_told_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    instruction_constraints.ready()
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(RequestError, match="without opencompass, nltk, langdetect, absl, emoji, syllapy"):
        instruction_constraints.ready()
    with pytest.raises(NoVerdict, match="without opencompass"):
        judged([COMMA], [{}], "Go.")


def test_the_process_outlives_the_thread_that_asked_first() -> None:
    worker, used = instruction_constraints._WORKER, []
    worker.close()
    for _ in range(2):
        asking = threading.Thread(target=lambda: judged([COMMA], [{}], "Go."))
        asking.start()
        asking.join()
        time.sleep(0.2)  # the kernel may take a moment to end a process with its thread
        used.append(worker._child)
    assert used[0] is used[1] is not None


def test_every_published_instruction_has_answers_that_follow_and_break_it() -> None:
    asked = "import json; from blade_gym.verifiers import instruction_constraints as it; print(json.dumps(list(it.checkers())))"
    known = json.loads(subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True).stdout)
    rewards: dict[str, set[float | None]] = {}
    for path in (DIFFERENTIAL / "instruction_following.jsonl", DIFFERENTIAL / "ifbench.jsonl"):
        for case in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            row = case["row"].get("verifier_metadata", case["row"])
            if len(row["instruction_id_list"]) == 1:
                rewards.setdefault(row["instruction_id_list"][0], set()).add(case["ours"])
    assert len(known) == 25 + 58
    assert {name for name in known if not {0.0, 1.0} <= rewards[name]} == ONLY_BROKEN | NO_DATA
