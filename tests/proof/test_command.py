"""`python -m proof`: what it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.model.errors import RequestError
from proof.__main__ import command_line


def ran(*arguments: object) -> str:
    done = CliRunner().invoke(command_line(), [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_folder_for_each_world_and_the_truth_beside_it(tmp_path: Path) -> None:
    ran("-o", tmp_path, "--tasks", 12, "--repeats", 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("code", "code_truth.json", "single", "single_truth.json"),
        *("terminal", "terminal_truth.json", "tools", "tools_truth.json"),
    ]
    truth = json.loads((tmp_path / "code_truth.json").read_text("utf-8"))
    assert len(truth["runs"]["merlin-coder"]["tasks"]) == 12
    assert (tmp_path / "tools" / "kestrel-70b_rollouts.jsonl").stat().st_size > 0


def test_nothing_of_an_earlier_simulation_is_left_beside_the_rows(tmp_path: Path) -> None:
    ran("-o", tmp_path, "--world", "code", "--tasks", 10, "--plant", "killed-by-the-host")
    assert (tmp_path / "code" / "merlin-coder_rollouts_failures.jsonl").exists()
    ran("-o", tmp_path, "--world", "code", "--tasks", 10, "--clean")
    assert not (tmp_path / "code" / "merlin-coder_rollouts_failures.jsonl").exists()


@pytest.mark.slow
def test_a_score_is_printed_and_written(tmp_path: Path) -> None:
    text = ran(
        "-o", tmp_path, "--world", "code", "--tasks", 12, "--plant", "no-patch", "--names", "documented", "--score"
    )
    assert "| causes right |" in text
    proof = json.loads((tmp_path / "proof.json").read_text("utf-8"))
    assert proof["mechanisms"]["code: no-patch"]["recall"] == 1.0
    assert "## Causes" in (tmp_path / "proof.md").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--world", "chess"),
        ("--plant", "gremlins"),
        ("--clean", "--plant", "no-patch"),
        ("-o", ""),
        ("--names", "klingon"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(RequestError):
        CliRunner().invoke(command_line(), ["-o", str(tmp_path), *arguments], catch_exceptions=False)
