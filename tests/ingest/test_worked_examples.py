"""Worked examples before a question are turns of the agent; tasks are told apart by what is asked after them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

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


def _told(task: int, *messages: tuple[str, str]) -> dict[str, Any]:
    said = [{"role": role, "content": text} for role, text in messages]
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "5"}]}]
    return {"responses_create_params": {"input": said}, "response": {"output": output}, "reward": float(task == 1)}


def _examples(task: int) -> tuple[tuple[str, str], ...]:
    before = ("system", "You add."), ("developer", "Be brief."), ("user", "1 + 1?"), ("assistant", "2")
    return (*before, ("user", f"2 + {task}?"))


def test_instructions_before_the_examples_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(_told(task, *_examples(task))) + "\n" for task in range(5) for _ in range(2)))
    rollouts = blade.load_run(path).rollouts.group_by("task_id").agg(pl.col("reward").sum())
    assert sorted(rollouts["reward"]) == [0, 0, 0, 0, 2]


def test_what_an_agent_that_greets_hears_is_no_prompt(tmp_path: Path) -> None:
    before = ("system", "You serve."), ("assistant", "How can I help?")
    rows = [{"task_id": f"t{task}", **_told(task, *before, ("user", f"I want {task}"))} for task in range(6)]
    assert _duplicates(tmp_path, rows) == 5


def test_the_question_after_the_examples_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"task_id": "t3", **_told(3, *_examples(3))}) + "\n")
    prompt = blade.load_run(path).reread([("t3", 0)])[0].prompt
    assert [(step.party, step.text) for step in prompt] == [
        ("system", "You add."),
        ("system", "Be brief."),
        ("user", "1 + 1?"),
        ("agent", "2"),
        ("user", "2 + 3?"),
    ]
