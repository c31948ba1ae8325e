"""Runs are read with the rule book of their benchmark's package, whatever the current folder is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import blade
from blade.analysis import load
from blade.model.errors import RequestError
from blade.model.options import Options
from builders import Row, rollout, write_jsonl


@pytest.fixture(autouse=True)
def package(tmp_path: Path) -> Path:
    return a_package(tmp_path, "pass_threshold: 0.5\n")


def a_package(folder: Path, book: str) -> Path:
    path = folder / "benchmarks" / "desk" / "skill" / "blade.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(book, encoding="utf-8")
    return path


def by(agent: str, tasks: Sequence[str]) -> list[Row]:
    return [rollout(task, reward=0.6) | {"agent_ref": {"name": agent}} for task in tasks]


def test_the_first_row_tells_the_package_and_all_is_read_once(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "results" / "run.jsonl", by("desk_agent", "abc"))
    read: list[int] = []
    (run,) = load([str(path)], Options(progress=lambda done, total: read.append(done)))
    assert run.pass_threshold == 0.5
    assert run.rule_book is not None
    assert run.rule_book_name == run.rule_book.named
    assert run.rule_book_name.startswith("benchmarks/desk/skill/blade.yaml (")
    assert read == [1]


def test_the_current_folder_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "results" / "run.jsonl", by("desk_agent", "abc"))
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    a_package(elsewhere, "pass_threshold: 0.9\n")
    seen = []
    for folder in (tmp_path, elsewhere, Path("/")):
        monkeypatch.chdir(folder)
        (run,) = load([str(path)], Options())
        seen.append((run.pass_threshold, run.rule_book_name, blade.analyze(path).runs[0].run.rule_book_name))
    assert len(set(seen)) == 1
    assert seen[0][0] == 0.5


def test_other_rows_may_tell_another_benchmark(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [*by("desk_agent", "ab"), *by("other_agent", "ab")])
    runs = load([str(path)], Options())
    assert [(run.benchmark, run.pass_threshold, run.rule_book_name) for run in runs] == [
        ("desk", 1.0, None),
        ("other", 1.0, None),
    ]


def test_a_first_line_without_a_rollout_is_passed_over(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [{"no": "rollout"}, *by("desk_agent", "ab")])
    (run,) = load([str(path)], Options())
    assert run.pass_threshold == 0.5


def test_a_rule_book_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    a_package(tmp_path, "task_id: case\n")
    path = write_jsonl(tmp_path / "run.jsonl", by("desk_agent", "ab"))
    with pytest.raises(RequestError, match="'case'"):
        load([str(path)], Options())


def test_a_given_package_wins(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", by("desk_agent", "ab"))
    other = tmp_path / "mine.yaml"
    other.write_text("pass_threshold: 0.7\n", encoding="utf-8")
    assert blade.load_run(path, package=other).pass_threshold == 0.7
