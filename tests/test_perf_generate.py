"""The files that speed is measured on: well-formed, varied, and the same for the same seed."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import zstandard

import builders

PERF = Path(__file__).parents[1] / "perf"
WELL_FORMED = ("conversations", "small", "logs")
"""Kinds whose rows hold a trajectory."""
SIZES = {"conversations": (28_000, 36_000), "small": (2_500, 3_500), "logs": (32_000, 42_000)}


def load(name: str) -> Any:
    """A script of the perf folder, under a name that no other folder's script can take."""
    spec = importlib.util.spec_from_file_location(f"perf_{name}", PERF / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(PERF))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(PERF))
    return module


generate = load("generate")
folders = load("folders")


@pytest.fixture(scope="module")
def lines() -> dict[str, list[bytes]]:
    return {kind: list(islice(generate.lines(kind, 7), 512)) for kind in WELL_FORMED}


@pytest.mark.parametrize("kind", WELL_FORMED)
def test_every_row_is_a_rollout(lines: dict[str, list[bytes]], kind: str) -> None:
    for line in lines[kind]:
        row = json.loads(line)
        assert row["reward"] in (0.0, 1.0)
        assert row["response"]["usage"]["total_tokens"] > 0
        assert row["responses_create_params"]["input"]
        assert not any(mark in line for mark in (b"~R~", b"~T~", b"~A~"))


@pytest.mark.parametrize("kind", WELL_FORMED)
def test_rows_have_the_size_of_their_kind(lines: dict[str, list[bytes]], kind: str) -> None:
    low, high = SIZES[kind]
    assert low < sum(map(len, lines[kind])) / len(lines[kind]) < high


@pytest.mark.parametrize("kind", WELL_FORMED)
def test_tasks_have_four_repeats_and_a_question_of_their_own(lines: dict[str, list[bytes]], kind: str) -> None:
    repeats, questions = defaultdict(set), defaultdict(set)
    for row in map(json.loads, lines[kind]):
        repeats[row["_ng_task_index"]].add(row["_ng_rollout_index"])
        questions[row["responses_create_params"]["input"][-1]["content"]].add(row["_ng_task_index"])
    assert all(seen == {0, 1, 2, 3} for seen in repeats.values())
    assert all(len(tasks) == 1 for tasks in questions.values())
    assert len(questions) == len(repeats) == 128


@pytest.mark.parametrize("kind", WELL_FORMED)
def test_no_two_rollouts_are_the_same(lines: dict[str, list[bytes]], kind: str) -> None:
    outputs = Counter(json.dumps(json.loads(line)["response"]["output"]) for line in lines[kind])
    assert max(outputs.values()) == 1


@pytest.mark.parametrize("kind", WELL_FORMED)
def test_calls_are_answered(lines: dict[str, list[bytes]], kind: str) -> None:
    for row in map(json.loads, lines[kind]):
        items = row["response"]["output"]
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        assert calls == [item["call_id"] for item in items if item["type"] == "function_call_output"]


def test_graded_rows_hold_a_verdict_of_each_test_and_a_log() -> None:
    rows = [json.loads(line) for line in islice(generate.lines("graded", 7), 512)]
    size = sum(len(json.dumps(row, separators=(",", ":"))) for row in rows) / len(rows)
    assert 3_000 < size < 4_200
    assert all(all(row["tests"].values()) == (row["reward"] == 1.0) for row in rows)
    assert 15 < sum(len(row["tests"]) for row in rows) / len(rows) < 25
    names = defaultdict(set)
    for row in rows:
        names[row["task_id"]].add(tuple(row["tests"]))
    assert {len(of_task) for of_task in names.values()} == {1}
    assert len({row["test_log"] for row in rows}) == 512


@pytest.mark.parametrize("shape", folders.SHAPES)
def test_run_folders_are_what_their_harness_leaves(tmp_path: Path, shape: str) -> None:
    assert folders.write(tmp_path / "one", shape, 10) >= 10
    folders.write(tmp_path / "two", shape, 10)
    texts = [
        {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "one", tmp_path / "two")
    ]
    assert texts[0] == texts[1]
    (run,) = builders.load(tmp_path / "one")
    assert run.rollouts.height == (40 if shape == "files" else 10)
    assert run.problem_count == 0
    assert {"passed", "failed"} == set(run.rollouts["outcome"])


def test_mixed_files_hold_odd_shapes_and_bad_lines() -> None:
    shapes: Counter[str] = Counter()
    for line in islice(generate.lines("mixed", 7), 2000):
        try:
            row = json.loads(line)
        except ValueError:
            shapes["bad"] += 1
            continue
        output = row.get("response", {}).get("output", [])
        shapes["plain"] += "response" not in row
        shapes["without usage"] += "response" in row and "usage" not in row["response"]
        shapes["lists in lists"] += any(isinstance(item, list) for item in output)
    assert shapes["bad"] == 2
    assert min(shapes[name] for name in ("plain", "without usage", "lists in lists")) > 50


@pytest.mark.parametrize("kind", generate.KINDS)
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    for name in ("one", "two"):
        generate.write(tmp_path / name, kind, 200_000, seed=3)
    generate.write(tmp_path / "three", kind, 200_000, seed=4)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").read_bytes() != (tmp_path / "three").read_bytes()


def test_a_larger_file_starts_like_a_smaller_one(tmp_path: Path) -> None:
    generate.write(tmp_path / "small", "small", 50_000)
    generate.write(tmp_path / "large", "small", 150_000)
    assert (tmp_path / "large").read_bytes().startswith((tmp_path / "small").read_bytes())


def test_size_and_rows_are_kept(tmp_path: Path) -> None:
    rows = generate.write(tmp_path / "by_size", "small", 100_000)
    content = (tmp_path / "by_size").read_bytes()
    assert content.count(b"\n") == rows
    assert 100_000 <= len(content) < 105_000
    assert generate.write(tmp_path / "by_rows", "small", 10**9, rows=10) == 10
    assert (tmp_path / "by_rows").read_bytes().count(b"\n") == 10


def test_compressed_files_hold_the_same_rows(tmp_path: Path) -> None:
    for name in ("plain.jsonl", "a.jsonl.gz", "a.jsonl.zst", "b.jsonl.gz"):
        generate.write(tmp_path / name, "small", 50_000)
    plain = (tmp_path / "plain.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == plain
    with zstandard.open(tmp_path / "a.jsonl.zst", "rb") as source:
        assert source.read() == plain
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
