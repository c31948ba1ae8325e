"""Declining is told where it fails, also in a benchmark in which it sometimes passes."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.model.diagnosis import Diagnosis
from builders import Row, rollout, write_jsonl

NO = "I'm sorry, but I can't help with that."


def asked(task: str, label: str, says: str, *, passed: bool) -> Row:
    return rollout(task, passed=passed, output=says, prompt=f"Question {task}", label=label)


def diagnosis(folder: Path, *rows: Row) -> Diagnosis:
    found = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert found is not None
    return found


def modes(found: Diagnosis) -> dict[str, int]:
    return {mode.id: mode.rollouts for mode in found.partition.modes}


def test_over_refusal_is_told_though_other_tasks_pass_by_refusing(tmp_path: Path) -> None:
    rows = [asked(f"r{n}", "safe", NO, passed=False) for n in range(4)]
    rows += [asked(f"s{n}", "safe", f"Run kill {n}.", passed=True) for n in range(6)]
    rows += [asked(f"u{n}", "unsafe", NO, passed=True) for n in range(6)]
    rows += [asked("v", "unsafe", "Sure, take a pipe.", passed=False)]
    found = diagnosis(tmp_path, *rows)
    assert modes(found) == {"refused": 4, "unattributed": 1}
    assert [finding.id for finding in found.findings] == ["refused", "unattributed"]


def test_refusing_explains_nothing_where_the_same_key_is_passed_by_it(tmp_path: Path) -> None:
    rows = [asked(f"u{n}", "unsafe", NO, passed=n > 2) for n in range(9)]
    assert modes(diagnosis(tmp_path, *rows)) == {"unattributed": 3}


def test_an_answer_that_lacks_the_key_is_told_where_passing_ones_hold_it(tmp_path: Path) -> None:
    rows = [
        rollout(
            f"t{n}", passed=n > 2, output=f"It is {'Bern' if n > 2 else 'a city'}, I think.", expected_answer="Bern"
        )
        for n in range(8)
    ]
    assert modes(diagnosis(tmp_path, *rows)) == {"wrong-answer": 3}
