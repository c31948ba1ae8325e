"""Logs of graders: they say of each check what the row says of it."""

from __future__ import annotations

import pytest

from proof.simulate.graders import RUNNERS, Bad, Runner, log, message, missing_file

COUNTS = {
    "pytest": "1 failed, 2 passed, 1 skipped",
    "unittest": "FAILED (failures=1, skipped=1)",
    "jest": "Tests:       1 failed, 1 skipped, 2 passed, 4 total",
    "go": "--- SKIP: d (0.01s)\nFAIL",
    "cargo": "test result: FAILED. 2 passed; 1 failed; 1 ignored",
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_log_names_what_failed_with_both_values_and_counts_the_rest(runner: Runner) -> None:
    text = log(runner, ("a", "b", "c", "d"), [Bad(check="b", got="12", wanted="14", line=44)], ("d",))
    assert COUNTS[runner] in text
    assert "12" in text
    assert "14" in text
    assert "44" in text


@pytest.mark.parametrize("runner", RUNNERS)
def test_what_is_raised_stands_with_its_frame(runner: Runner) -> None:
    words = missing_file(runner, "/app/out.json")
    bad = Bad(check="a", raised=words, frame="/tests/helpers.x", line=7)
    text = log(runner, ("a", "b"), [bad])
    assert words in text
    assert "/tests/helpers.x" in text
    assert message(runner, bad) == words


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_log_without_a_failure_speaks_of_none(runner: Runner) -> None:
    text = log(runner, ("a", "b"), [])
    assert "FAILED" not in text
    assert "✕" not in text
    assert "--- FAIL" not in text
