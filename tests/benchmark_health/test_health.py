"""`blade health`: broken tasks stand on top, hard but valid ones are not accused, and every number has its reason."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

import blade
from blade.benchmark_health.report import shortened
from blade.benchmark_health.values import Health
from blade.files import json_line
from builders import Row, rollout, said, write_jsonl

ROOT = Path(__file__).parents[2]
TASKS = 30
HARD = range(20, 30)
STRICT = (3, 7)
FLAKY = (5,)


def answered(task: int, repeat: int, answer: str, key: str, model: str, *, passed: bool) -> Row:
    return rollout(
        f"t{task}",
        index=task,
        repeat=repeat,
        passed=passed,
        model=model,
        prompt=f"question {task}",
        output=[said(f"Answer: {answer}")],
        expected_answer=key,
        extracted_answer=answer,
    )


def made(model: str, seed: int) -> list[Row]:
    """Thirty tasks: two with a verifier that rejects the key's own value, one that judges by chance, ten hard ones."""
    random_ = random.Random(f"{model} {seed}")
    rows = []
    for task in range(TASKS):
        key = f"{1000 + task * 37}"
        for repeat in range(4):
            if task in STRICT:
                rows.append(answered(task, repeat, f"{int(key):,}", key, model, passed=False))
            elif task in FLAKY:
                rows.append(answered(task, repeat, key, key, model, passed=repeat % 2 == 0))
            else:
                right = task not in HARD and random_.random() < 0.8
                answer = key if right else str(random_.randrange(10_000, 99_999))
                rows.append(answered(task, repeat, answer, key, model, passed=right))
    return rows


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    return [write_jsonl(folder / model / "rollouts.jsonl", made(model, 1)) for model in ("a", "b")]


def test_broken_tasks_stand_on_top_and_hard_ones_are_not_accused(runs: list[Path]) -> None:
    for given in (runs[:1], runs):
        found = blade.health(*given)
        suspects = [one.task_id for one in found.tasks if one.suspicion >= 0.5]
        assert sorted(suspects) == ["t3", "t5", "t7"]
        hard = [one for one in found.tasks if one.task_id in {f"t{n}" for n in HARD}]
        assert all(one.passed == 0 and one.suspicion < 0.5 for one in hard)
        assert len(found.tasks) == TASKS


def test_the_short_answer_is_short_however_long_the_reasons(runs: list[Path]) -> None:
    found = blade.health(*runs)
    wordy = [
        msgspec.structs.replace(
            task, reasons=tuple(msgspec.structs.replace(one, message="long " * 100) for one in task.reasons)
        )
        for task in found.tasks
    ]
    short = shortened(msgspec.structs.replace(found, tasks=tuple(wordy)))
    assert len(json.dumps(short)) <= 6_000
    assert len(short["tasks"]) + short["left_off"] == TASKS
    assert 1 <= len(short["tasks"]) < TASKS


def test_the_trivial_ranking_is_beaten(runs: list[Path]) -> None:
    found = blade.health(*runs)
    broken = {f"t{n}" for n in (*STRICT, *FLAKY)}
    top = [one.task_id for one in found.tasks[: len(broken)]]
    lowest = sorted(found.tasks, key=lambda one: (one.passed / max(1, one.judged), one.task_id))[: len(broken)]
    assert len(broken & set(top)) > len(broken & {one.task_id for one in lowest})


def test_six_questions_with_answers_and_reasons(runs: list[Path]) -> None:
    found = blade.health(*runs)
    assert [q.name for q in found.questions] == [
        "task fit",
        "verifier fidelity",
        "model compatibility",
        "harness fit",
        "variance",
        "reproducibility",
    ]
    answers = {q.name: q.answer for q in found.questions}
    assert answers["verifier fidelity"] == "no"
    assert answers["harness fit"] == "yes"
    assert answers["task fit"] == "cannot be known"
    assert all(q.because for q in found.questions)


def test_numbers_have_plans_and_reasons(runs: list[Path]) -> None:
    found = blade.health(*runs)
    assert found.benchmark.reliability is not None
    assert 0.5 < found.benchmark.reliability < 1
    assert found.benchmark.mde is not None
    assert list(found.benchmark.repeats_needed) == ["0.02", "0.05", "0.1"]
    assert found.benchmark.tasks_needed["0.02"] > found.benchmark.tasks_needed["0.1"]
    assert found.benchmark.discrimination is None
    assert found.reasons["discrimination"] == "needs 5 runs, and there are 2"


def test_one_repeat_knows_no_noise(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", [row for row in made("a", 1) if row["_ng_rollout_index"] == 0])
    found = blade.health(path)
    assert found.benchmark.mde is None
    assert found.reasons["mde"] == "no task has two judged repeats"
    assert found.benchmark.tasks_needed == {}


def test_the_command_writes_all_of_it(runs: list[Path], tmp_path: Path) -> None:
    words = [sys.executable, "-c", "from blade.cli.main import main; main()", "health", *map(str, runs)]
    done = subprocess.run([*words, "-o", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "3 of 30 tasks suspect, by 2 runs" in done.stdout
    whole = json.loads((tmp_path / "health.json").read_text())
    assert len(whole["tasks"]) == TASKS
    jsonschema.validate(whole, msgspec.json.schema(Health))
    assert json.loads(json_line(msgspec.convert(whole, Health))) == whole
    assert whole["tasks"][0]["reasons"][0]["evidence"][0]["quote"]
    assert (tmp_path / "health.md").read_text().startswith("# ")
    short = subprocess.run([*words, "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(short.stdout)["left_off"] == TASKS - 10


def test_runs_of_two_benchmarks_are_refused(runs: list[Path], tmp_path: Path) -> None:
    other = [
        row | {"task_id": f"z{n}", "responses_create_params": {"input": f"z {n}"}, "expected_answer": f"z{n}"}
        for n, row in enumerate(made("a", 2))
    ]
    path = write_jsonl(tmp_path / "z" / "rollouts.jsonl", other)
    words = [sys.executable, "-c", "from blade.cli.main import main; main()", "health", str(runs[0]), str(path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "do not have the same tasks" in done.stderr


def test_json_is_small_and_its_places_can_be_pasted_back(runs: list[Path]) -> None:
    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from blade.cli.main import main; main()", *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)

    said_ = ask("health", *map(str, runs), "--json").stdout
    assert len(said_.encode()) <= 6_000
    answer = json.loads(said_)
    assert len(answer["tasks"]) + answer["left_off"] == TASKS
    reason = answer["tasks"][0]["reasons"][0]
    (evidence,) = reason["evidence"]
    path = next(path for path in runs if blade.load_run(path).name == reason["run"])
    assert evidence["quote"] in ask("show", str(path), evidence["location"], "--width", "0").stdout
