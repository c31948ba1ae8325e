"""Worked examples before a question are turns of the agent; tasks are told apart by what is asked after them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import blade


def _row(task: int, *turns: str, field: str = "request") -> dict[str, Any]:
    said = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(turns)]
    given = {"responses_create_params": {"input": said}} if field == "request" else {"messages": said}
    return {"task_id": f"t{task}", "reward": 0.0, "expected_answer": "4", "extracted_answer": "5", **given}


def _duplicates(folder: Path, rows: list[dict[str, Any]]) -> int:
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = blade.load_run(folder / "r.jsonl")
    marks = run.tasks["prompt_fp"].drop_nulls()
    return len(marks) - marks.n_unique()


def test_tasks_with_the_same_examples_are_not_one_task(tmp_path: Path) -> None:
    assert _duplicates(tmp_path, [_row(n, "1 + 1?", "2", f"2 + {n}?") for n in range(6)]) == 0
    assert _duplicates(tmp_path, [_row(n, "1 + 1?", "2", "2 + 2?") for n in range(6)]) == 5


def test_what_the_agent_said_itself_does_not_tell_tasks_apart(tmp_path: Path) -> None:
    rows = [_row(n, "2 + 2?", f"I say {n}", field="messages") for n in range(6)]
    assert _duplicates(tmp_path, rows) == 5
    ended_by_user = [_row(n, "2 + 2?", f"I say {n}", f"bye {n}", field="messages") for n in range(6)]
    assert _duplicates(tmp_path, ended_by_user) == 5
