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


PACKAGE = "map: {task: case.id, repeat: try, reward: grading.points}\n"


def test_the_rule_book_of_a_package_holds_the_mapping(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "cases" / "rollouts" / "mine.jsonl", ROWS)
    book = tmp_path / "cases" / "skill" / "blade.yaml"
    book.parent.mkdir()
    book.write_text(PACKAGE, "utf-8")
    expected = {"c-7#0": "passed", "c-7#1": "failed", "c-8#0": "failed", "c-8#1": "failed"}
    assert outcomes(blade.load_run(path, package=tmp_path / "cases")) == expected
    assert outcomes(blade.load_run(path)) == expected  # the package that the file lies in


def test_the_command_line_overrules_the_rule_book(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", [row | {"other": 1.0} for row in ROWS])
    book = tmp_path / "blade.yaml"
    book.write_text(PACKAGE, "utf-8")
    run = blade.load_run(path, package=book, field_map={"reward": "other"})
    assert set(outcomes(run).values()) == {"passed"}


def test_an_unknown_name_in_the_map_is_refused_with_its_line(tmp_path: Path) -> None:
    book = tmp_path / "blade.yaml"
    book.write_text("benchmark: b\nmap:\n  colour: x\n", "utf-8")
    path = write_jsonl(tmp_path / "mine.jsonl", ROWS)
    with pytest.raises(blade.BladeError, match=r"blade.yaml:3: nothing is called 'colour' here"):
        blade.load_run(path, package=book)


def test_a_verdict_can_be_a_word(tmp_path: Path) -> None:
    rows = [{"k": name, "end": word} for name, word in (("a", "PASSED"), ("b", "incorrect"), ("c", "error"))]
    run = blade.load_run(write_jsonl(tmp_path / "mine.jsonl", rows), field_map={"task": "k", "reward": "end"})
    assert outcomes(run) == {"a#0": "passed", "b#0": "failed", "c#0": "unscored"}


def test_rows_without_a_score_say_first_which_field_may_be_one(tmp_path: Path) -> None:
    rows = [{"index": n, "output": {"text": "x", "verdict": {"held": n % 2 == 0, "seen": n < 2}}} for n in range(4)]
    run = blade.load_run(write_jsonl(tmp_path / "mine.jsonl", rows))
    assert "--map task=index --map reward=output.verdict.held" in run.problems[0].reason


def test_the_only_field_that_tells_rows_apart_as_a_verdict_does_is_the_reward(tmp_path: Path) -> None:
    rows = [{"index": n, "output": {"text": "x", "verdict": {"held": n % 2 == 0}}} for n in range(4)]
    run = blade.load_run(write_jsonl(tmp_path / "mine.jsonl", rows))
    assert run.rollouts["reward"].to_list() == [1.0, 0.0, 1.0, 0.0]


def test_a_verdict_may_be_followed_by_its_reason(tmp_path: Path) -> None:
    said = ("passed", "failed: AssertionError", "timed out", "passed")
    path = write_jsonl(tmp_path / "r.jsonl", [{"task_id": f"h{n}", "result": one} for n, one in enumerate(said)])
    with pytest.raises(blade.BladeError, match="--map task=task_id --map reward=result"):
        blade.load_run(path)
    run = blade.load_run(path, field_map={"task": "task_id", "reward": "result"})
    assert list(outcomes(run).values()) == ["passed", "failed", "failed", "passed"]


def test_the_task_to_try_is_the_one_with_several_attempts(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{n * 7919 + k * 104729:08x}",
            "example": f"ex-{n}",
            "inputs": {"question": f"What is {n}?"},
            "outputs": {"answer": f"{n * k}"},
            "wanted": {"text": f"w{n}"},
            "graded": [{"by": "exact", "value": (n + k) % 2}],
        }
        for n in range(8)
        for k in range(2)
    ]
    with pytest.raises(blade.BladeError) as refused:
        blade.load_run(write_jsonl(tmp_path / "r.jsonl", rows))
    assert "--map task=example --map reward=graded.0.value --map answer=outputs.answer" in refused.value.message


def test_results_among_other_events_are_pointed_out(tmp_path: Path) -> None:
    events = [
        {"event": event, "job": f"j{n}", **({"done_well": n % 2 == 0} if event == "end" else {"text": "x"})}
        for n in range(6)
        for event in ("start", "output", "end")
    ]
    with pytest.raises(blade.BladeError, match="done_well stands in 6 of 18 rows: keep only these"):
        blade.load_run(write_jsonl(tmp_path / "r.jsonl", events))
