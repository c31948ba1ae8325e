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
    assert [finding.id for finding in found.findings] == ["check:cites"]


def judged(task: str, repeat: int, *, passed: bool, verdict: str | None, reply: str) -> Row:
    evaluation = {"response": {"output": [{"role": "assistant", "content": reply}]}, "verdict_label": verdict}
    said: dict[str, Any] = {"expected_answer": "Bern", "judge_evaluations": [evaluation], "index": int(task[1:])}
    return rollout(task, repeat=repeat, passed=passed, prompt=f"Item {task}?", output="I say Bern, as listed.", **said)


def test_an_output_that_passes_elsewhere_is_the_verifiers_doing(tmp_path: Path) -> None:
    rows = [judged(f"t{n}", k, passed=True, verdict="[[A]]", reply="Right.") for n in range(4) for k in range(2)]
    rows += [judged(f"t{n}", 2, passed=False, verdict="[[B]]", reply="Wrong.") for n in range(2)]
    rows += [judged("t2", 2, passed=False, verdict=None, reply="I cannot go on as the")]
    found = analyzed(tmp_path, *rows).diagnosis
    assert found is not None
    modes = {mode.id: (mode.party, mode.rollouts) for mode in found.partition.modes}
    assert modes == {"inconsistent-verdict": ("verifier", 2), "no-verdict": ("verifier", 1)}
    assert found.findings == ()
    (doubt,) = [one for one in found.doubts if one.code == "TSK012"]
    assert doubt.places == (("t0", 2), ("t1", 2), ("t2", 2))
