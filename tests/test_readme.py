"""What the README shows is what BLADE writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.main import command_line

ROOT = Path(__file__).parents[1]


def test_the_excerpt_is_of_a_real_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    run = "examples/desk_assistant/sparrow-8b_rollouts.jsonl"
    assert CliRunner().invoke(command_line(), ["analyze", run, "-o", str(tmp_path)]).exit_code == 0
    written = " ".join((tmp_path / "report.md").read_text(encoding="utf-8").split())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = [line.removeprefix("> ").lstrip("# ") for line in readme.splitlines() if line.startswith("> ")]
    assert len(quoted) >= 4
    for line in quoted:
        assert line in written
