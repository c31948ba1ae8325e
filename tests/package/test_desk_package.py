"""The package of the desk assistant is complete: it validates, calibrates, and holds the runs of the example."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.package import app

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "benchmarks" / "desk_assistant"
MODELS = ("heron-70b", "sparrow-8b")


def test_every_check_holds() -> None:
    found = CliRunner().invoke(app, ["validate", "--benchmark-dir", str(PACKAGE), "--phase", "all"])
    assert found.exit_code == 0, found.output
    assert "[FAIL]" not in found.output
    assert "[ ]" not in found.output


@pytest.mark.parametrize("model", MODELS)
def test_golden_is_told_from_every_control(model: str, tmp_path: Path) -> None:
    reports = PACKAGE / "golden_reports"
    given = ["--golden-report", str(reports / f"{model}_golden_report.md")]
    given += ["--anchor-facts", str(reports / f"{model}_anchor_facts.json")]
    given += ["--shallow-report", str(reports / f"{model}_shallow.md"), "--output-dir", str(tmp_path)]
    found = CliRunner().invoke(app, ["calibrate", *given])
    assert found.exit_code == 0, found.output
    summary = json.loads((tmp_path / "calibration_summary.json").read_text())
    assert summary["golden_vs_self"] >= 0.85
    assert summary["shallow_vs_golden"] <= 0.40


def test_rollouts_are_those_of_the_example() -> None:
    for path in sorted((PACKAGE / "rollouts").glob("*.jsonl.gz")):
        example = ROOT / "examples" / "desk_assistant" / path.name.removesuffix(".gz")
        assert gzip.decompress(path.read_bytes()) == example.read_bytes()
