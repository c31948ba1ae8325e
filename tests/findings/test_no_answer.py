"""Rollouts that hand in nothing: those that only thought, and those that declined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blade
from blade.model.diagnosis import Diagnosis
from builders import Row, response, rollout, write_jsonl

THOUGHT = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Three is odd, so I add a dash"}]}]


def diagnosed(folder: Path, *rows: Row) -> Diagnosis:
    diagnosis = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert diagnosis is not None
    return diagnosis


def test_a_rollout_that_only_thought_is_a_mode_of_its_own_and_quotes_the_thought(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, rollout("a", passed=True, output="5"), rollout("b", response=response(THOUGHT)))
    assert [mode.id for mode in found.partition.modes] == ["output-missing"]
    (finding,) = found.findings
    assert 'b#0 ends in its thoughts (:0): "Three is odd, so I add a dash".' in finding.against
    assert [(one.step, one.quote) for one in finding.evidence] == [(0, "Three is odd, so I add a dash")]


def test_declining_is_a_finding_of_its_own_and_no_fault_of_the_harness(tmp_path: Path) -> None:
    graded: dict[str, Any] = {"expected_answer": "Shakespeare"}
    rows = [
        rollout("a", passed=True, output="Shakespeare", verdict="correct", **graded),
        rollout("b", output="I do not know who wrote Hamlet.", verdict="not_attempted", **graded),
        rollout("c", output="I do not know who wrote Lear.", verdict="not_attempted", **graded),
    ]
    (finding,) = diagnosed(tmp_path, *rows).findings
    assert (finding.id, finding.rollouts) == ("refused", 2)
    assert "no repeat of these 2 tasks passes" in finding.fix


def test_a_remedy_does_not_say_that_no_repeat_passes_where_one_does(tmp_path: Path) -> None:
    hands = [("You hold 12.", True, "win"), ("You hold 18.", False, "bust"), ("You hold 19.", False, "bust")]
    rows = [
        rollout(index=0, repeat=n, prompt=prompt, passed=passed, output="hit", info={"result": word})
        for n, (prompt, passed, word) in enumerate(hands)
    ]
    (finding,) = diagnosed(tmp_path, *rows).findings
    assert finding.fix.endswith("the repeats of this task that pass were given something else, so they do not teach it")
