"""The skills are well formed, the same for every agent, and short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from blade.cli.skill_files import MAIN, TARGETS

ROOT = Path(__file__).parents[2]
CANONICAL = ROOT / TARGETS["agents"] / MAIN
SKILLS = sorted([*(ROOT / TARGETS["agents"]).iterdir(), *(ROOT / "skills").iterdir()])
MOST_LINES = 150
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def frontmatter(folder: Path) -> dict[str, str]:
    _, head, _ = (folder / "SKILL.md").read_text("utf-8").split("---\n", maxsplit=2)
    found: dict[str, str] = yaml.safe_load(head)
    return found


@pytest.mark.parametrize("target", ["claude", "codex"])
def test_every_agent_has_the_same_files(target: str) -> None:
    folder = ROOT / TARGETS[target] / MAIN
    assert contents(folder) == contents(CANONICAL)
    assert not any(path.is_symlink() for path in (folder, *folder.parents, *folder.rglob("*")) if ROOT in path.parents)


@pytest.mark.parametrize("folder", SKILLS, ids=lambda path: path.name)
def test_frontmatter_is_that_of_an_agent_skill(folder: Path) -> None:
    head = frontmatter(folder)
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert head["name"] == folder.name
    assert NAME.fullmatch(head["name"])
    assert len(head["name"]) <= 64
    assert "Use when" in head["description"]
    assert len(head["description"]) <= 1024


@pytest.mark.parametrize("folder", SKILLS, ids=lambda path: path.name)
def test_pages_are_short(folder: Path) -> None:
    for page in folder.rglob("*.md"):
        assert len(page.read_text("utf-8").splitlines()) < MOST_LINES, page


def test_every_reference_is_named_in_the_skill_and_is_there() -> None:
    named = set(re.findall(r"\]\((references/[^)]+)\)", (CANONICAL / "SKILL.md").read_text("utf-8")))
    assert named == {f"references/{path.name}" for path in (CANONICAL / "references").iterdir()}
    assert len(named) >= 6


def test_the_skill_names_the_eleven_sections_in_the_order_of_our_reports() -> None:
    import blade
    from blade.report.sections import report

    written = report(blade.analyze(ROOT / "examples/desk_assistant/heron-70b_rollouts.jsonl"))
    sections = re.findall(r"^## \d+\. (.+)$", written, flags=re.MULTILINE)
    assert len(sections) == 11
    text = (CANONICAL / "SKILL.md").read_text("utf-8")
    assert ", ".join(sections) in text
    page = (CANONICAL / "references/writing-a-report.md").read_text("utf-8")
    assert re.findall(r"^\d+\. \*\*(.+?)\.\*\*", page, flags=re.MULTILINE) == sections
