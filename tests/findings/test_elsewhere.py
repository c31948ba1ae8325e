"""What several runs say together: a task that another run passes, and one wrong answer of all models."""

from __future__ import annotations

from pathlib import Path

from blade.analysis import analyze, load
from blade.model.diagnosis import Diagnosis
from blade.model.options import Options
from builders import Row, rollout, said, write_jsonl


def answered(task: int, answer: str, *, model: str, right: str, repeats: int = 1) -> list[Row]:
    return [
        rollout(
            f"t{task}",
            repeat=repeat,
            passed=answer == right,
            model=model,
            prompt=f"question {task}",
            output=[said(f"Answer: {answer}")],
            expected_answer=right,
            extracted_answer=answer,
        )
        for repeat in range(repeats)
    ]


def runs(
    folder: Path, *wrong: dict[int, str], choices: bool = False, models: tuple[str, ...] = ("a", "b")
) -> list[Diagnosis]:
    """Runs of several models on 24 tasks; `wrong` gives each one's wrong answers by task."""
    paths = []
    for number, (model, mine) in enumerate(zip(models, wrong, strict=True)):
        rows = []
        for task in range(24):
            right = "ABCD"[task % 4] if choices else f"{task * 7 + 3}"
            rows += answered(task, mine.get(task, right), model=model, right=right)
        paths.append(str(write_jsonl(folder / f"run{number}" / "rollouts.jsonl", rows)))
    found = [one.diagnosis for one in analyze(load(paths, Options()), Options()).runs]
    assert all(one is not None for one in found)
    return [one for one in found if one is not None]


def doubted(found: Diagnosis) -> list[str]:
    return [task for doubt in found.doubts if doubt.code == "TSK016" for task in doubt.tasks]


def test_models_that_agree_against_the_key_accuse_it(tmp_path: Path) -> None:
    for one in runs(tmp_path, {3: "999", 5: "111"}, {3: "999", 5: "222"}):
        assert doubted(one) == ["t3"]
        (doubt,) = [doubt for doubt in one.doubts if doubt.code == "TSK016"]
        assert doubt.strong
        assert "of another model answers 999" in doubt.message
        assert doubt.evidence


def test_three_models_count(tmp_path: Path) -> None:
    found = runs(tmp_path, {3: "999"}, {3: "999"}, {3: "999"}, models=("a", "b", "c"))
    assert all("of 2 other models" in one.doubts[0].message for one in found)


def test_a_task_that_one_of_them_passes_is_not_accused(tmp_path: Path) -> None:
    first, second = runs(tmp_path, {3: "999"}, {})
    assert doubted(first) == doubted(second) == []
    assert first.causes["t3"].because.startswith("another run passes it")


def test_letters_of_a_choice_agree_by_chance(tmp_path: Path) -> None:
    assert [doubted(one) for one in runs(tmp_path, {3: "A"}, {3: "A"}, choices=True)] == [[], []]


def test_one_model_that_errs_alike_twice_is_one_model(tmp_path: Path) -> None:
    assert [doubted(one) for one in runs(tmp_path, {3: "999"}, {3: "999"}, models=("a", "a"))] == [[], []]


def judged(folder: Path, verdicts: dict[str, list[list[bool]]], words: str = "") -> list[Diagnosis]:
    """Runs by model; for each task whether each repeat passes. `words` is what the verifier says of failures of task 0."""
    paths = []
    for model, tasks in verdicts.items():
        rows = [
            rollout(
                f"t{task}",
                repeat=repeat,
                passed=passed,
                model=model,
                prompt=f"question {task}",
                output=[said(f"{model} {task} {repeat}")],
            )
            | (
                {"error_message": words if task == 0 else f"wrong at {task * 31 + repeat}, {model}"}
                if not passed
                else {}
            )
            for task, repeats in enumerate(tasks)
            for repeat, passed in enumerate(repeats)
        ]
        paths.append(str(write_jsonl(folder / model / "rollouts.jsonl", rows)))
    found = [one.diagnosis for one in analyze(load(paths, Options()), Options()).runs]
    return [one for one in found if one is not None]


def codes(found: Diagnosis, code: str) -> list[str]:
    return [task for doubt in found.doubts if doubt.code == code for task in doubt.tasks]


def test_a_weak_run_that_passes_what_a_strong_one_never_does_is_noted(tmp_path: Path) -> None:
    yes, no = [True] * 3, [False] * 3
    strong, weak = judged(tmp_path, {"strong": [no, *[yes] * 11], "weak": [yes, *[no] * 11]})
    assert codes(strong, "TSK017") == ["t0"]
    assert codes(weak, "TSK017") == []


def test_two_repeats_are_too_few_to_say_always(tmp_path: Path) -> None:
    yes, no = [True] * 2, [False] * 2
    strong, _ = judged(tmp_path, {"strong": [no, *[yes] * 11], "weak": [yes, *[no] * 11]})
    assert codes(strong, "TSK017") == []


def test_one_message_of_every_run_is_noted(tmp_path: Path) -> None:
    no, some = [False] * 3, [True, False, True]
    found = judged(tmp_path, {"a": [no, *[some] * 11], "b": [no, *[some] * 11]}, "fixture orders.csv is not there")
    assert [codes(one, "TSK018") for one in found] == [["t0"], ["t0"]]


def test_a_message_that_most_tasks_have_is_nothing_special(tmp_path: Path) -> None:
    no = [False] * 3
    rows = {"a": [no] * 12, "b": [no] * 12}
    found = judged(tmp_path, rows, "wrong at 0, a")
    assert codes(found[0], "TSK018") == []
