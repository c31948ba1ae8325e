"""Runs are read as the package of their benchmark teaches, which stands in `benchmarks` where the command runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from blade.analysis import Options
from blade.cli.packages import read_with_book
from blade.model.errors import RequestError
from builders import Row, rollout, write_jsonl


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a_package(tmp_path, "pass_threshold: 0.5\n")


def a_package(folder: Path, book: str) -> None:
    path = folder / "benchmarks" / "desk" / "skill" / "blade.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(book, encoding="utf-8")


def by(agent: str, tasks: Sequence[str]) -> list[Row]:
    return [rollout(task, reward=0.6) | {"agent_ref": {"name": agent}} for task in tasks]


def test_the_first_row_tells_the_package_and_all_is_read_once(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", by("desk_agent", "abc"))
    read: list[int] = []
    options = Options(progress=lambda done, total: read.append(done))
    (run,), taught = read_with_book([str(path)], options)
    assert run.pass_threshold == 0.5
    assert taught.book is not None
    assert run.taught_by == taught.book.named
    assert read == [1]


def test_other_rows_may_tell_another(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [*by("desk_agent", "ab"), *by("other_agent", "ab")])
    runs, taught = read_with_book([str(path)], Options())
    assert [(run.benchmark, run.pass_threshold, run.taught_by) for run in runs] == [
        ("desk", 1.0, None),
        ("other", 1.0, None),
    ]
    assert taught.book is None


def test_a_first_row_that_tells_nothing_costs_a_second_reading(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [{"no": "rollout"}, *by("desk_agent", "ab")])
    (run,), _ = read_with_book([str(path)], Options())
    assert run.pass_threshold == 0.5


def test_a_package_that_does_not_fit_is_told(tmp_path: Path) -> None:
    a_package(tmp_path, "task_id: case\n")
    path = write_jsonl(tmp_path / "run.jsonl", by("desk_agent", "ab"))
    with pytest.raises(RequestError, match="'case'"):
        read_with_book([str(path)], Options())
