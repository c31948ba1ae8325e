"""No page tells its reader to type a command or an option that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill.commands import commands, refusals

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / ".agents/skills").rglob("*.md"),
        *(ROOT / "skills").rglob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "proof").glob("*.md"),
        ROOT / "CONTRIBUTING.md",
        ROOT / "README.md",
        ROOT / "docs/llms.txt",
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_exists_with_every_option(page: Path) -> None:
    found = commands(page.read_text("utf-8"))
    assert [line for words in found for line in refusals(words)] == []


def test_the_skill_names_the_commands_of_the_whole_way() -> None:
    text = "\n".join(page.read_text("utf-8") for page in (ROOT / ".agents/skills").rglob("*.md"))
    named = {words[1] for words in commands(text) if words[0] == "blade"}
    assert {"analyze", "show", "explain", "try", "sql", "compare", "health", "gate", "audit", "label"} <= named


@pytest.mark.parametrize(
    "line",
    ["blade analyse RUN", "blade analyze RUN --verbose", "blade skill remove", "gym eval profil", "blade gate A B -x"],
)
def test_what_does_not_exist_is_refused(line: str) -> None:
    (words,) = commands(f"```bash\n{line}   # a remark\n```")
    assert len(list(refusals(words))) == 1


def test_commands_are_found_in_blocks_spans_and_behind_a_runner() -> None:
    page = "Type `blade show RUN 3#1`.\n\n```bash\nuv run python a/blade_toolkit.py \\\n  --help\nmake setup\n```\n"
    assert commands(page) == [["blade_toolkit.py", "--help"], ["blade", "show", "RUN", "3#1"]]
