"""Rows of nobody's harness, read as the user says what their fields are."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import blade
from blade.cli.main import command_line
from blade.model.run import Run
from builders import write_jsonl

ROWS = [
    {"case": {"id": f"c-{case}"}, "try": attempt, "grading": {"points": points}, "says": f"answer {case}", "v": 2}
    for case, attempt, points in (("7", 0, 1.0), ("7", 1, 0.0), ("8", 0, 0.0), ("8", 1, 0.0))
]
MAP = {"task": "case.id", "repeat": "try", "reward": "grading.points", "answer": "says"}


def outcomes(run: Run) -> dict[str, str]:
    rows = run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
    return {f"{task}#{repeat}": outcome for task, repeat, outcome in rows}


def test_rows_are_read_as_they_are_mapped(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", ROWS)
    run = blade.load_run(path, field_map=MAP)
    assert outcomes(run) == {"c-7#0": "passed", "c-7#1": "failed", "c-8#0": "failed", "c-8#1": "failed"}
    assert run["c-8", 1].row["extracted_answer"] == "answer 8"


def test_the_command_keeps_the_mapping_in_its_folder(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", ROWS)
    words = [word for target, field in MAP.items() for word in ("--map", f"{target}={field}")]
    done = CliRunner().invoke(command_line(), ["analyze", str(path), *words, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    run = blade.load_run(tmp_path / "out")
    assert outcomes(run)["c-7#0"] == "passed"
    assert run["c-7", 0].row["task_id"] == "c-7"


def test_a_verdict_can_be_a_truth_value(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", [{"k": "a", "good": True}, {"k": "b", "good": False}])
    run = blade.load_run(path, field_map={"task": "k", "reward": "good"})
    assert outcomes(run) == {"a#0": "passed", "b#0": "failed"}


def test_a_refused_file_names_its_fields_and_the_mapping_to_try(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", ROWS)
    with pytest.raises(blade.BladeError) as refused:
        blade.load_run(path)
    assert "case.id (c-7; the task?)" in refused.value.message
    assert "--map task=case.id --map reward=grading.points" in refused.value.message


@pytest.mark.parametrize("words", ["task", "task=", "colour=x", "=x"])
def test_a_mapping_that_is_none_is_refused(tmp_path: Path, words: str) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", ROWS)
    done = CliRunner().invoke(command_line(), ["analyze", str(path), "--map", words])
    assert isinstance(done.exception, blade.BladeError)
    assert "WHAT=FIELD" in done.exception.hint


def test_one_thing_cannot_be_two_fields(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", ROWS)
    done = CliRunner().invoke(command_line(), ["analyze", str(path), "--map", "task=a", "--map", "task=b"])
    assert isinstance(done.exception, blade.BladeError)
    assert "twice" in done.exception.message
