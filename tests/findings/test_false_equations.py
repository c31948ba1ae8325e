"""Wrong answers with a false equation in their work are a finding of their own, which quotes the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blade
from builders import Row, rollout, write_jsonl


def solved(task: int, *, passed: bool, works_wrong: bool) -> Row:
    line = f"{task} + 4 = {task + (5 if works_wrong else 4)}"
    answer = str(task + (4 if passed else 5))
    fields: dict[str, Any] = {"expected_answer": str(task + 4), "extracted_answer": answer}
    return rollout(f"t{task}", passed=passed, prompt=f"{task} + 4?", output=f"{line}\nSo it is {answer}.", **fields)


def test_where_the_work_goes_wrong_is_counted_against_passes(tmp_path: Path) -> None:
    rows = [solved(n, passed=False, works_wrong=n < 5) for n in range(1, 7)]
    rows += [solved(n, passed=True, works_wrong=False) for n in range(7, 11)]
    page = (blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).save(tmp_path / "out") / "report.md").read_text()
    assert "**1. Answers are wrong: a false equation.** 4 of 6 failures (4 tasks)." in page
    assert "no pass of this run holds a false equation" in page
    assert "t1#0:0" in page
    assert '"1 + 4 = 6".' in page


def test_where_passes_have_false_equations_as_often_nothing_is_said_of_them(tmp_path: Path) -> None:
    rows = [solved(n, passed=n > 6, works_wrong=True) for n in range(1, 11)]
    page = (blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).save(tmp_path / "out") / "report.md").read_text()
    assert "false equation" not in page.partition("## 2.")[0]
    assert "1 + 4 = 6" not in page.partition("## 2.")[0]
