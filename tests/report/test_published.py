"""Published numbers beside a run's own: reproduced, not contradicted, off by so much, or not to be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.report.sections import report
from blade_gym.run.manifest import reported


def _inventory(folder: Path, published: Any, tasks: int = 100, missing: int = 0) -> list[str]:
    """Tasks of one rollout, three in four of which pass; lines of the inventory on published numbers."""
    rows = [{"task_id": f"t{n}", "reward": float(n % 4 < 3), "response": {"output": []}} for n in range(tasks)]
    names = [{"task_id": f"t{n}", "responses_create_params": {"input": []}} for n in range(tasks + missing)]
    (folder / "r_materialized_inputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in names))
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "r_manifest.json").write_text(
        json.dumps({"benchmark": "b", "model": {"name": "m"}, "reported": published})
    )
    lines = report(blade.analyze(folder / "r.jsonl")).splitlines()
    return [line for line in lines if line.startswith("- Published")]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"metric": "pass@1", "value": 0.8, "source": "card"}, "pass@1 0.800 (card); here 0.750: reproduced (inside "),
        (
            {"metric": "accuracy", "value": 80, "source": "card"},
            "accuracy 0.800 (card); here 0.750: reproduced (inside ",
        ),
        ({"metric": "pass@1", "value": 0.99}, "pass@1 0.990; here 0.750: not reproduced, -24.0 points off (outside "),
        ({"metric": "pass@8", "value": 0.9}, "pass@8 0.900; this run has no such number."),
        ({"metric": "bleu", "value": 31.5}, "bleu 0.315; this run has no such number."),
    ],
)
def test_a_published_number_is_set_beside_the_runs_own(tmp_path: Path, entry: dict[str, Any], said: str) -> None:
    (line,) = _inventory(tmp_path, [entry])
    assert line.startswith(f"- Published: {said}")


def test_few_tasks_and_missing_verdicts_reproduce_nothing(tmp_path: Path) -> None:
    near, far = {"metric": "pass@1", "value": 0.8}, {"metric": "pass@1", "value": 0.1}
    (inside, outside) = _inventory(tmp_path, [near, far], tasks=40)
    assert "here 0.750: not contradicted (inside " in inside
    assert inside.endswith("; 40 tasks leave too much open to call it reproduced.")
    assert "here 0.750: not reproduced, 65.0 points off" in outside
    (partial,) = _inventory(tmp_path, [near], missing=3)
    assert "here 0.750: not contradicted (inside " in partial
    assert partial.endswith("; not every rollout has a verdict.")


@pytest.mark.parametrize("odd", [None, "x", {}, [None, 3, {}, {"metric": "pass@1"}, {"metric": 3, "value": "x"}]])
def test_what_is_no_number_is_left_out(tmp_path: Path, odd: Any) -> None:
    assert _inventory(tmp_path, odd) == []


def test_a_manifest_carries_what_was_published_for_its_model() -> None:
    one = {"model": "org/Heron-70b", "metric": "pass@1", "value": 0.8, "source": "card"}
    other = {"model": "sparrow", "metric": "pass@1", "value": 0.1, "source": "card"}
    config = {"agent": {"datasets": [{"name": "x", "reported": [one, other, "odd"]}, {"reported": None}]}}
    assert reported(config, "heron-70b") == [one]
    assert reported(config, "sparrow") == [other]
    assert reported(config, None) == reported(config, "owl") == []
