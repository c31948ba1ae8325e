"""`blade skill` puts the skill into a project, leaves changed files alone, and prints it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKILL = "skills/nemo-gym-blade-analysis/SKILL.md"
TEXT = (ROOT / ".agents" / SKILL).read_text("utf-8")


def blade(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=240)


def test_it_goes_where_each_agent_looks(tmp_path: Path) -> None:
    done = blade("skill", "install", "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for folder in (".agents", ".claude", ".codex"):
        assert (tmp_path / folder / SKILL).read_text("utf-8") == TEXT
        assert (tmp_path / folder / SKILL).with_name("scripts").is_dir()
        assert f"wrote {tmp_path / folder / SKILL}" in done.stdout


def test_one_target_and_the_folder_where_one_stands(tmp_path: Path) -> None:
    assert blade("skill", "install", "--target", "claude", cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == [".claude"]


def test_again_writes_nothing(tmp_path: Path) -> None:
    blade("skill", "install", "--target", "codex", cwd=tmp_path)
    done = blade("skill", "install", "--target", "codex", cwd=tmp_path)
    assert done.returncode == 0
    assert "wrote" not in done.stdout
    assert "were there already" in done.stdout


def test_a_changed_file_is_overwritten_only_by_force(tmp_path: Path) -> None:
    mine = tmp_path / ".claude" / SKILL
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    refused = blade("skill", "install", cwd=tmp_path)
    assert refused.returncode == 2
    assert "nothing was written" in refused.stderr
    assert "--force" in refused.stderr
    assert mine.read_text("utf-8") == "mine"
    assert not (tmp_path / ".agents").exists()
    assert blade("skill", "install", "--force", cwd=tmp_path).returncode == 0
    assert mine.read_text("utf-8") == TEXT


def test_another_skill_by_name(tmp_path: Path) -> None:
    assert blade("skill", "install", "reward-profiling", "--target", "agents", cwd=tmp_path).returncode == 0
    assert (tmp_path / ".agents/skills/reward-profiling/SKILL.md").is_file()


@pytest.mark.parametrize(
    "words", [("install", "nope"), ("install", "--into", "no/such/folder"), ("show", "nope"), ("show", "../SKILL")]
)
def test_what_cannot_be_done_is_said(words: tuple[str, ...], tmp_path: Path) -> None:
    done = blade("skill", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "hint: " in done.stderr


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ((), f".agents/{SKILL}"),
        (("comparison",), ".agents/skills/nemo-gym-blade-analysis/references/comparison.md"),
        (("references/package.md",), ".agents/skills/nemo-gym-blade-analysis/references/package.md"),
        (("reward-profiling",), "skills/reward-profiling/SKILL.md"),
    ],
)
def test_show_prints_a_page_and_nothing_else(name: tuple[str, ...], file: str) -> None:
    assert blade("skill", "show", *name).stdout == (ROOT / file).read_text("utf-8")
