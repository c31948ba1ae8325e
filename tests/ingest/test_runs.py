"""Which rows are one run, which files are its shards, and what it is called."""

import re
from pathlib import Path
from typing import Any

import pytest

from builders import load, load_rows, outcomes, places, rollout, write_jsonl


@pytest.mark.parametrize(
    "fields",
    [
        [{"agent_ref": {"name": "a"}}, {"agent_ref": {"name": "b"}}],
        [{"model": "a"}, {"model": "b"}],
        [{"skills_ref": {"hash": "a"}}, {"skills_ref": {"hash": "b"}}],
    ],
)
def test_agents_models_and_skills_tell_runs_apart(tmp_path: Path, fields: list[dict[str, Any]]) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("t") | fields[n % 2] for n in range(5)])
    runs = load(path)
    assert [run.rollouts.height for run in runs] == [3, 2]
    assert len({run.name for run in runs}) == 2


def test_a_row_that_does_not_say_is_of_the_only_run_of_its_file(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", model="m", agent="x"), rollout("b"), rollout("c", agent="x"))
    assert (run.model, run.agent, run.tasks.height) == ("m", "x", 3)


def test_a_failure_without_a_model_is_of_the_run_beside_it(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_failures.jsonl", [{"task_id": "b", "_ng_failure_class": "x"}])
    run = load_rows(tmp_path, rollout("a", model="m"))
    assert outcomes(run) == ["failed", "errored"]


def shard(folder: Path, name: str, tasks: str, **more: Any) -> Path:
    return write_jsonl(folder / f"{name}.jsonl", [rollout(task, agent="x", model="m", **more) for task in tasks])


def test_disjoint_shards_of_one_agent_are_one_run(tmp_path: Path) -> None:
    (run,) = load(shard(tmp_path, "one", "ab"), shard(tmp_path, "two", "cd"))
    assert run.tasks["task_id"].to_list() == list("abcd")
    assert [artifact.path for artifact in run.artifacts] == ["one.jsonl", "two.jsonl"]


def test_shards_of_repeats_are_one_run(tmp_path: Path) -> None:
    (run,) = load(shard(tmp_path, "one", "ab", repeat=0), shard(tmp_path, "two", "ab", repeat=1))
    assert places(run) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_overlapping_files_are_two_runs(tmp_path: Path) -> None:
    runs = load(shard(tmp_path, "one", "ab"), shard(tmp_path, "two", "bc"))
    assert [run.name for run in runs] == ["m-one", "m-two"]


def test_overlap_is_seen_although_a_result_field_differs(tmp_path: Path) -> None:
    paths = [
        write_jsonl(tmp_path / f"{name}.jsonl", [rollout("a", agent="x", verifier_metadata={"seed": name})])
        for name in ("one", "two")
    ]
    assert len(load(*paths)) == 2


def test_positions_alone_do_not_make_shards_of_two_runs(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", [rollout(index=0, repeat=0, agent="x")]) for n in "12"]
    assert len(load(*paths)) == 2


def test_a_name_makes_one_run_of_files_that_overlap(tmp_path: Path) -> None:
    one, two = shard(tmp_path, "one", "ab", repeat=0), shard(tmp_path, "two", "bc", repeat=0)
    (run,) = load(f"mine={one}", f"mine={two}")
    assert (run.name, run.tasks.height, run.duplicates) == ("mine", 3, 1)


def test_two_names_make_two_runs_of_disjoint_shards(tmp_path: Path) -> None:
    runs = load(f"left={shard(tmp_path, 'one', 'ab')}", f"right={shard(tmp_path, 'two', 'cd')}")
    assert [run.name for run in runs] == ["left", "right"]


def test_without_an_agent_only_numbered_files_of_one_folder_are_shards(tmp_path: Path) -> None:
    for name, tasks in (("r_0", "a"), ("r_1", "b"), ("other", "c")):
        write_jsonl(tmp_path / f"{name}.jsonl", [rollout(task) for task in tasks])
    assert sorted(run.tasks.height for run in load(tmp_path)) == [1, 2]


def test_shards_of_different_benchmarks_are_two_runs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(f'{{"benchmark": "{name}"}}')
    paths = shard(tmp_path / "one", "r", "ab"), shard(tmp_path / "two", "r", "cd")
    assert [run.benchmark for run in load(*paths)] == ["one", "two"]


@pytest.mark.parametrize(
    ("agent", "benchmark"),
    [("sums_simple_agent", "sums"), ("sums_benchmark_agent", "sums"), ("simple_agent", "folder"), (None, "folder")],
)
def test_the_benchmark_is_named_by_the_agent_or_the_folder(tmp_path: Path, agent: str | None, benchmark: str) -> None:
    (tmp_path / "folder").mkdir()
    (run,) = load(write_jsonl(tmp_path / "folder" / "r.jsonl", [rollout("a", agent=agent)]))
    assert run.benchmark == benchmark


def test_a_name_with_two_models_is_told_apart_by_model(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", [rollout("a", model=model) for model in ("m/1", "m/2")])
    assert [run.name for run in load(f"x={path}")] == ["x-m-1", "x-m-2"]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("org/model:7b", "org-model-7b"),
        ("../../etc/passwd", "etc-passwd"),
        ("-rf", "rf"),
        ("modèle\n", "mod-le"),
        ("x" * 500, "x" * 100),
    ],
)
def test_names_are_safe_as_files(tmp_path: Path, model: str, name: str) -> None:
    run = load_rows(tmp_path, rollout("a", model=model))
    assert run.name == name
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", run.name)
    for table in (run.rollouts, run.tasks):
        assert set(table["run"]) == {name}


def test_a_name_is_model_then_folder_then_stem(tmp_path: Path) -> None:
    assert load_rows(tmp_path / "folder", rollout("a", model="m")).name == "m"
    assert load_rows(tmp_path / "folder", rollout("a")).name == "folder"
    assert load_rows(tmp_path / "results", rollout("a")).name == "run"


def test_names_are_unique_whatever_they_are(tmp_path: Path) -> None:
    models = ["a b", "a/b", "a-b-2", "a-b"]
    runs = load(write_jsonl(tmp_path / "r.jsonl", [rollout("t", model=model) for model in models]))
    assert len({run.name for run in runs}) == 4
    assert {run.model for run in runs} == set(models)


def test_a_file_that_gives_no_run_is_a_problem_of_the_others(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "good.jsonl", [rollout("a")])
    (tmp_path / "bad.eval").write_bytes(b"PK\x03\x04 and then nothing")
    (run,) = load(tmp_path)
    assert run.problem_count == len(run.problems) == 1
    assert "bad.eval" in str(run.problems[0].source)


def test_a_sweep_names_its_runs_by_the_folders_that_differ(tmp_path: Path) -> None:
    for size in ("base", "large"):
        write_jsonl(tmp_path / size / "temp=0" / "r.jsonl", [{"task_id": "t", "reward": 1}])
    assert [run.name for run in load(tmp_path)] == ["temp-0-base", "temp-0-large"]
