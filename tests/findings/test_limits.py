"""What a limit cuts: the limit is the finding, unless the agent goes round until it is reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blade
from blade.model.diagnosis import Finding
from builders import Row, call, response, result, rollout, said, write_jsonl

CUT: dict[str, Any] = {"incomplete_details": {"reason": "max_output_tokens"}}


def findings(folder: Path, *rows: Row) -> tuple[Finding, ...]:
    passed = [rollout(f"p{n}", passed=True, output=str(n)) for n in range(8)]
    diagnosis = blade.analyze(write_jsonl(folder / "r.jsonl", [*rows, *passed])).runs[0].diagnosis
    assert diagnosis is not None
    return diagnosis.findings


def test_a_cut_rollout_is_not_blamed_for_its_answer_as_well(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"expected_answer": "42", "extracted_answer": "4"}
    rows = [rollout(f"t{n}", response=response("It is 4", **CUT), **wrong) for n in range(4)]
    (one,) = findings(tmp_path, *rows)
    assert one.id == "limit:tokens"
    assert one.rollouts == 4
    assert one.fix.startswith("raise the limit of tokens")


def judged(task: str, text: str) -> Row:
    failed = [{"name": "check(f)", "passed": False, "message": "AssertionError"}]
    return rollout(task, response=response(text, **CUT), checks=failed)


def test_tests_of_a_program_that_was_cut_off_are_not_blamed_as_well(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, *(judged(f"t{n}", "```python\ndef f(x):\n    retu") for n in range(4)))
    assert (one.id, one.rollouts) == ("limit:tokens", 4)


def test_a_program_that_was_whole_before_the_cut_is_judged_by_its_tests(tmp_path: Path) -> None:
    whole = "```python\ndef f(x):\n    return x\n```\nThis function takes a"
    found = findings(tmp_path, *(judged(f"t{n}", whole) for n in range(4)))
    assert [(one.id, one.rollouts) for one in found] == [("check:check(f)", 4)]


def test_going_round_until_the_limit_is_no_matter_of_the_limit(tmp_path: Path) -> None:
    again = [item for n in range(5) for item in (call("go", '{"to": "west"}', f"c{n}"), result("locked", f"c{n}"))]
    rows = [rollout(f"t{n}", response=response([*again, said("west")], **CUT)) for n in range(4)]
    first = findings(tmp_path, *rows)[0]
    assert first.title == "It goes round until the limit of tokens"
    assert "in 4 of them the same call is made over and over" in first.what
    assert "a higher limit would not help" in first.fix
