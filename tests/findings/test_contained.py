"""An answer that holds the key and fails: the criterion says why, or the verifier is at odds with itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blade
from blade.model.analysis import RunAnalysis
from builders import Row, rollout, write_jsonl


def analyzed(folder: Path, *rows: Row) -> RunAnalysis:
    return blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0]


def treaty(n: int, repeat: int) -> Row:
    cited = n > 3
    criteria = [{"criterion": "answers the question", "passed": True}, {"criterion": "cites", "passed": cited}]
    says = f"It was signed in 19{40 + n}{' [1]' if cited else ''}, as item {n} says."
    key: dict[str, Any] = {"expected_answer": f"19{40 + n}", "rubric_results": criteria}
    return rollout(f"t{n}", repeat=repeat, passed=cited, output=says, **key)


def test_where_a_criterion_fails_the_form_of_the_answer_is_no_finding(tmp_path: Path) -> None:
    found = analyzed(tmp_path, *(treaty(n, k) for n in range(8) for k in range(2))).diagnosis
    assert found is not None
    assert [finding.id for finding in found.findings] == ["one-check-failed:cites"]


def judged(task: str, repeat: int, *, passed: bool, verdict: str | None, reply: str) -> Row:
    evaluation = {"response": {"output": [{"role": "assistant", "content": reply}]}, "verdict_label": verdict}
    said: dict[str, Any] = {"expected_answer": "Bern", "judge_evaluations": [evaluation], "index": int(task[1:])}
    return rollout(task, repeat=repeat, passed=passed, prompt=f"Item {task}?", output="I say Bern, as listed.", **said)
