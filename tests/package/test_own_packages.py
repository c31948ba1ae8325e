"""The packages in benchmarks/ are complete: they validate, calibrate, and hold the runs of the examples."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.package import app

ROOT = Path(__file__).parents[2]
GOLDENS = [
    ("desk_assistant", "heron-70b"),
    ("desk_assistant", "sparrow-8b"),
    ("workplace_assistant", "scripted-never_resolves_names"),
    ("workplace_assistant", "scripted-filters_dates_in_its_head"),
]


def package(name: str) -> Path:
    return ROOT / "benchmarks" / name


@pytest.mark.parametrize("name", ["desk_assistant", "workplace_assistant"])
def test_every_check_holds(name: str) -> None:
    found = CliRunner().invoke(app, ["validate", "--benchmark-dir", str(package(name)), "--phase", "all"])
    assert found.exit_code == 0, found.output
    assert "[FAIL]" not in found.output
    assert "[ ]" not in found.output


@pytest.mark.parametrize(("name", "model"), GOLDENS)
def test_golden_is_told_from_every_control(name: str, model: str, tmp_path: Path) -> None:
    reports = package(name) / "golden_reports"
    given = ["--golden-report", str(reports / f"{model}_golden_report.md")]
    given += ["--anchor-facts", str(reports / f"{model}_anchor_facts.json")]
    given += ["--shallow-report", str(reports / f"{model}_shallow.md"), "--output-dir", str(tmp_path)]
    found = CliRunner().invoke(app, ["calibrate", *given])
    assert found.exit_code == 0, found.output
    summary = json.loads((tmp_path / "calibration_summary.json").read_text())
    assert summary["golden_vs_self"] >= 0.85
    assert summary["shallow_vs_golden"] <= 0.40


def test_rollouts_are_those_of_the_examples() -> None:
    for path in sorted((package("desk_assistant") / "rollouts").glob("*.jsonl.gz")):
        example = ROOT / "examples" / "desk_assistant" / path.name.removesuffix(".gz")
        assert gzip.decompress(path.read_bytes()) == example.read_bytes()
    for path in sorted((package("workplace_assistant") / "rollouts").glob("*.jsonl.gz")):
        named = path.name.removeprefix("scripted-").replace("_rollouts", "", 1)
        assert path.read_bytes() == (ROOT / "examples" / "workplace_assistant" / named).read_bytes()
