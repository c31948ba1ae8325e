from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import blade
from blade.model.analysis import RunAnalysis
from blade.report.html import MOST_TASKS, page, task_map
from builders import gym_run, rollout, write_jsonl


def analyzed(path: Path) -> RunAnalysis:
    return blade.analyze(path).runs[0]


def squares(picture: str) -> Counter[str]:
    return Counter(re.findall(r'<rect class="(\w+)"', picture))


def test_every_expected_rollout_is_one_square(tmp_path: Path) -> None:
    path = gym_run(tmp_path, [[1, 0, 0], [1, 1, None], [0, 0]])
    picture = task_map(blade.analyze(blade.load_run(path, expect_repeats=3)).runs[0])
    assert squares(picture) == {"passed": 3, "failed": 4, "unjudged": 1, "missing": 1}
    assert "a column a task (3), a square a rollout (3 passed, 4 failed, 1 unjudged, 1 missing)" in picture


def test_best_tasks_come_first(tmp_path: Path) -> None:
    picture = task_map(analyzed(gym_run(tmp_path, [[0, 0], [1, 1], [1, 0]])))
    assert re.findall(r"<title>(\w+):", picture) == ["1", "2", "0"]


def test_an_id_is_text(tmp_path: Path) -> None:
    rows = [rollout(task, reward=1.0) for task in ("<b>x</b>", 'a"&c')]
    picture = task_map(analyzed(write_jsonl(tmp_path / "r.jsonl", rows)))
    assert "&lt;b&gt;x&lt;/b&gt;: 1 passed" in picture
    assert "<b>" not in picture


def test_what_could_not_be_read_is_not_drawn(tmp_path: Path) -> None:
    shares = [rollout(f"t{place}", reward=place / 10) for place in range(10)]
    assert task_map(analyzed(write_jsonl(tmp_path / "shares.jsonl", shares))) == ""
    many = [rollout(f"t{place}", reward=1.0) for place in range(MOST_TASKS + 1)]
    assert task_map(analyzed(write_jsonl(tmp_path / "many.jsonl", many))) == ""
    assert task_map(analyzed(write_jsonl(tmp_path / "one.jsonl", [rollout("t", reward=1.0)]))) == ""


def test_the_page_shows_a_picture_of_each_run(tmp_path: Path) -> None:
    runs = [gym_run(tmp_path, [[1, 0], [0, 1]], name=name, agent=name) for name in ("a", "b")]
    html = page(blade.analyze(*runs))
    assert html.count("<figure>") == 2
    assert html.index("</h1>") < html.index("<figure>") < html.index("<h2>")
