"""What a limit cuts: the limit is the finding, unless the agent goes round until it is reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blade
from blade.model.diagnosis import Finding
from builders import Row, response, rollout, write_jsonl

CUT: dict[str, Any] = {"incomplete_details": {"reason": "max_output_tokens"}}


def findings(folder: Path, *rows: Row) -> tuple[Finding, ...]:
    passed = [rollout(f"p{n}", passed=True, output=str(n)) for n in range(8)]
    diagnosis = blade.analyze(write_jsonl(folder / "r.jsonl", [*rows, *passed])).runs[0].diagnosis
    assert diagnosis is not None
    return diagnosis.findings


def judged(task: str, text: str) -> Row:
    failed = [{"name": "check(f)", "passed": False, "message": "AssertionError"}]
    return rollout(task, response=response(text, **CUT), checks=failed)


def test_tests_of_a_program_that_was_cut_off_are_not_blamed_as_well(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, *(judged(f"t{n}", "```python\ndef f(x):\n    retu") for n in range(4)))
    assert (one.id, one.rollouts) == ("token-limit", 4)


def test_a_program_that_was_whole_before_the_cut_is_judged_by_its_tests(tmp_path: Path) -> None:
    whole = "```python\ndef f(x):\n    return x\n```\nThis function takes a"
    found = findings(tmp_path, *(judged(f"t{n}", whole) for n in range(4)))
    assert [(one.id, one.rollouts) for one in found] == [("all-checks-failed:check(f)", 4)]
