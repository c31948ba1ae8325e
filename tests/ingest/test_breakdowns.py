"""Fields that name what broke, told by what they hold: whatever they are called, and whatever stands where nothing broke."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade import analysis as pipeline
from blade.ingest.roles.breakdowns import what_broke, what_was_raised
from blade.model.options import Options
from builders import Row, said, write_jsonl

RAISED = "Traceback (most recent call last):\n  File \"/srv/scorer/run.py\", line 3, in mark\n    x[k]\nKeyError: 'k'"
LOST = "HTTP 502 from upstream"


@pytest.mark.parametrize("nothing", [None, "", "-", "keine"])
@pytest.mark.parametrize("message", [LOST, RAISED, "OSError: [Errno 28] No space left on device"])
def test_a_rare_message_beside_what_notes_nothing(nothing: str | None, message: str) -> None:
    column = [message if row == 7 else nothing for row in range(20)]
    found = what_broke(column, [row % 2 == 0 for row in range(20)])
    assert found is not None
    assert found[0] == (nothing or "")


@pytest.mark.parametrize(
    "column",
    [
        ["timeout after 60 s, tried again" if row == 7 else None for row in range(20)],  # it was got over
        ["rate limited for 2 s" if row == 7 else "resumed" if row == 9 else None for row in range(20)],
        ["HTTP 503, throttled for 300 ms" if row == 7 else None for row in range(20)],
        ["expected 3, ValueError" if row == 7 else None for row in range(20)],  # a test speaks of an answer
        [LOST if row < 12 else None for row in range(20)],  # so are most rows
        [LOST if row in (6, 7) else None for row in range(20)],  # half of them pass
        ["a comment" if row == 7 else None for row in range(20)],
        [{"error": LOST} if row == 7 else None for row in range(20)],
        [None] * 20,
    ],
)
def test_what_names_no_breakdown(column: list[object]) -> None:
    assert what_broke(column, [row % 2 == 0 for row in range(20)]) is None


def test_what_was_raised_stands_last_in_python_and_first_in_node() -> None:
    assert what_was_raised(RAISED).split("\n")[0] == "KeyError: 'k'"
    node = "TypeError: x is not a function\n    at mark (/srv/scorer/run.js:3:5)"
    assert what_was_raised(node).split("\n")[0] == "TypeError: x is not a function"
    assert what_was_raised(LOST) == LOST


def _row(task: int, repeat: int, note: str | None) -> Row:
    right = task % 2 == 0
    answer = str(task if right else task + 100)
    return {
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "reward": float(right and note is None),
        "response": {"output": [said(f"It is {answer}.")], "model": "m"},
        "q7": {"zz": note if note is not None else "keine", "got": answer, "want": str(task)},
    }


def _modes(tmp_path: Path, note: str) -> dict[str, str]:
    rows = [_row(task, repeat, note if task == 4 and repeat < 3 else None) for task in range(8) for repeat in range(4)]
    options = Options(workers=1)
    path = write_jsonl(tmp_path / "a_rollouts.jsonl", rows)
    analysis = pipeline.analyze(pipeline.load([str(path)], options), options)
    attributions = analysis.runs[0].attributions
    assert attributions is not None
    table = attributions.table
    wanted = table.filter(table["task_id"] == "4").select("repeat", "mode", "evidence").rows()
    return {str(repeat): mode for repeat, mode, evidence in wanted if mode and evidence}


@pytest.mark.parametrize(
    ("note", "mode"),
    [
        (RAISED, "grader-crashed"),
        ("the judge did not answer: HTTP 502", "grader-did-not-run"),
        (LOST, "grader-did-not-run"),  # a single answer was given: what failed then is not the agent's session
    ],
)
def test_a_failure_under_any_name_is_not_the_agents(tmp_path: Path, note: str, mode: str) -> None:
    assert _modes(tmp_path, note) == {"0": mode, "1": mode, "2": mode}


def test_what_is_noted_beside_a_wrong_answer_is_not_why_it_failed(tmp_path: Path) -> None:
    rows = [_row(task, repeat, LOST if task == 5 and repeat < 3 else None) for task in range(8) for repeat in range(4)]
    path = write_jsonl(tmp_path / "a_rollouts.jsonl", rows)
    options = Options(workers=1)
    attributions = pipeline.analyze(pipeline.load([str(path)], options), options).runs[0].attributions
    assert attributions is not None
    table = attributions.table
    assert set(table.filter(table["task_id"] == "5")["mode"]) == {"wrong-answer"}
