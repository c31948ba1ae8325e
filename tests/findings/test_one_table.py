"""Findings are groups of the rows of one table: their numbers are its numbers, and advice rests on what it says."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.model.analysis import RunAnalysis
from builders import Row, call, result, rollout, said, write_jsonl
from one_table import check_findings


def analyzed(folder: Path, rows: list[Row]) -> RunAnalysis:
    return blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0]


def summed(task: str, repeat: int, answer: str, expected: str = "7") -> Row:
    """A single answer, by itself or with an expected one that it contradicts."""
    row = rollout(task, repeat=repeat, passed=answer == expected, output=f"Answer: {answer}")
    return row | {"extracted_answer": answer, "expected_answer": expected}


def canceled(task: str, repeat: int, *, extra: bool) -> Row:
    items = [call("find_order", "{}", "a"), result("found", "a")]
    items += [call("cancel_order", '{"id": "7"}', "b"), result("done", "b")] if extra else []
    return rollout(task, repeat=repeat, passed=not extra, output=[*items, said("Done.")], expected_actions=[])


def test_wrong_answers_may_be_trained_on_from_the_passes_of_their_tasks(tmp_path: Path) -> None:
    rows = [summed(f"t{n}", repeat, "7" if repeat < 2 else f"{n}{repeat}") for n in range(6) for repeat in range(4)]
    assert check_findings(analyzed(tmp_path, rows)) == 1


def test_nothing_is_to_be_learned_where_the_expected_answer_is_in_doubt(tmp_path: Path) -> None:
    """The same answer passes and fails: what the grader says is no lesson."""
    rows = [summed(f"t{n}", repeat, "7") for n in range(6) for repeat in range(4)]
    rows = [row | {"reward": float(place % 4 < 2)} for place, row in enumerate(rows)]
    one = analyzed(tmp_path, rows)
    assert one.diagnosis is not None
    assert one.diagnosis.responsibility.not_agents == 12
    assert check_findings(one) == 0


def test_an_extra_call_is_titled_by_what_it_does_and_counted_once(tmp_path: Path) -> None:
    rows = [canceled(f"t{n}", repeat, extra=repeat == 1) for n in range(5) for repeat in range(3)]
    one = analyzed(tmp_path, rows)
    check_findings(one)
    assert one.diagnosis is not None
    (finding,) = one.diagnosis.findings
    assert (finding.title, finding.rollouts) == ("Cancels orders that it should not cancel", 5)
