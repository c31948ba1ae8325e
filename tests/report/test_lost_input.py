"""What of the input was lost stands on page one, beside the score that it may have changed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from blade.analysis import analyze, load
from blade.model.options import Options
from blade.report import as_json
from blade.report.page_one import page_one
from blade.report.terminal import summary
from builders import gym_run, rollout, write_jsonl

ROWS = [rollout(f"t{n}", passed=n < 3, prompt=f"p{n}") for n in range(5)]
LINES = [json.dumps(row).encode() + b"\n" for row in ROWS]


def first_page(path: Path) -> str:
    return "\n".join(page_one(analyze(load([str(path)], Options()), Options())))


def test_a_torn_line_is_told_beside_the_score(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b"".join([*LINES[:4], LINES[4][:30]]))
    page = first_page(path)
    said = "**Input.** 4 rollouts read, with 1 problem in the files: `torn.jsonl:5` (the line ends"
    assert said in page
    assert page.index("**Score.**") < page.index(said) < page.index("How the 1 rollout that did not pass failed")
    assert "Tasks: 3 passed, 1 failed (one verdict" in page, "what is lost is not called 0 missing"


def test_a_compressed_file_that_ends_early_is_told(tmp_path: Path) -> None:
    # What is compressed by itself is whole up to where the next part begins.
    parts = [gzip.compress(line, mtime=0) for line in LINES]
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(b"".join(parts[:3]) + parts[3][:20])
    assert "**Input.** 3 rollouts read, with 1 problem in the files" in first_page(path)


def test_rewards_that_are_no_numbers_are_counted_and_the_first_is_shown(tmp_path: Path) -> None:
    rows = [*ROWS[:3], *(row | {"reward": "pending"} for row in ROWS[3:])]
    path = write_jsonl(tmp_path / "run.jsonl", rows)
    analysis = analyze(load([str(path)], Options()), Options())
    page, printed = "\n".join(page_one(analysis)), " ".join("\n".join(summary(analysis)).split())
    assert 'with 2 problems in the files: `run.jsonl:4` (reward is "pending"' in page
    assert "in 2 places)." in page
    assert printed.count("run.jsonl:4") == 1
    assert json.loads(as_json.summary(analysis, {}))["n"]["problems"] == 2


def test_none_missing_is_said_where_the_expected_rollouts_are_known(tmp_path: Path) -> None:
    page = first_page(gym_run(tmp_path, [[1.0], [0.0]]))
    assert "0 missing" in page
    assert "**Input.**" not in page
