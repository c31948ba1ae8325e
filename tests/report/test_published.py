"""Published numbers beside a run's own: reproduced, off by so much, or not to be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.gym.run.manifest import reported
from blade.report.sections import report


def _inventory(folder: Path, published: Any) -> list[str]:
    """Forty tasks of one rollout, thirty of which pass; lines of the inventory on published numbers."""
    rows = [{"task_id": f"t{n}", "reward": float(n < 30), "response": {"output": []}} for n in range(40)]
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
