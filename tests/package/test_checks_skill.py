"""D1: each check fires on what it is for, and not on a skill that is as it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.package.checks_skill import skill_checks
from blade.package.front_matter import read_front_matter
from blade.package.layout import find_package
from blade.package.rollouts import PackageRollouts
from packages import by_code


@pytest.mark.parametrize(
    ("head", "fault"),
    [
        ("name: a-b2\ndescription: d", ""),
        ("name: a\ndescription: d\nlicense: MIT\ncompatibility: any\nmetadata: {a: 1}\nallowed-tools: Bash", ""),
        ("name: Upper\ndescription: d", "`name` must be lowercase"),
        ("name: -a\ndescription: d", "`name` must be lowercase"),
        ("name: a--b\ndescription: d", "`name` must be lowercase"),
        (f"name: {'a' * 65}\ndescription: d", "65 characters"),
        ("name: a", "`description` is missing"),
        ("name: a\ndescription: ''", "`description` must be a text"),
        (f"name: a\ndescription: {'d' * 1025}", "1025 characters"),
        (f"name: a\ndescription: d\ncompatibility: {'c' * 501}", "`compatibility` must be at most"),
        ("name: a\ndescription: d\nversion: 1", "`version` is no field"),
        ("name: a\ndescription: d\nmetadata: [1]", "`metadata` must be names"),
        ("- a", "no names with values"),
        ("a: [", "no YAML"),
    ],
)
def test_the_head_is_read_by_the_specification(head: str, fault: str) -> None:
    found = read_front_matter(f"---\n{head}\n---\nbody\n")
    assert found.body == "body\n"
    assert (fault in "; ".join(found.faults)) if fault else found.faults == ()


def _skill(copy: Path, data: PackageRollouts, text: str | bytes) -> dict[str, bool | None]:
    content = text if isinstance(text, bytes) else text.encode()
    (copy / "skill" / "SKILL.md").write_bytes(content)
    return {code: check.passed for code, check in by_code(skill_checks(find_package(copy), data)).items()}


def test_a_byte_order_mark_and_other_line_ends_are_no_fault(copy: Path, data: PackageRollouts) -> None:
    text = (copy / "skill" / "SKILL.md").read_bytes()
    found = _skill(copy, data, b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    assert set(found.values()) == {True}


def test_titles_are_known_by_their_meaning(copy: Path, data: PackageRollouts) -> None:
    text = (copy / "skill" / "SKILL.md").read_text()
    for old, new in (
        ("## Overview", "## What this benchmark measures"),
        ("## Input schema", "## 2. Rollout fields"),
        ("## Workflow funnel", "## Stages"),
        ("## Failure taxonomy", "## Failure modes"),
        ("## Analysis workflow", "## How to analyze a run"),
        ("## Report template", "## Report structure"),
    ):
        text = text.replace(old, new)
    assert set(_skill(copy, data, text).values()) == {True}


@pytest.mark.parametrize("title", ["Overview", "Input schema", "Workflow funnel", "Failure taxonomy"])
def test_a_section_that_is_empty_or_only_a_promise_fails(copy: Path, data: PackageRollouts, title: str) -> None:
    text = (copy / "skill" / "SKILL.md").read_text()
    before, _, rest = text.partition(f"## {title}\n")
    _, _, after = rest.partition("\n## ")
    code = f"D1.section.{title.lower().replace(' ', '-')}"
    for body in ("\n" * 30, "\nTODO: write this section with all that belongs in it, and more than twelve words.\n"):
        found = _skill(copy, data, f"{before}## {title}\n{body}\n## {after}")
        assert found[code] is False
    assert found["D1.open"] is False


def test_a_generic_skill_fails_although_it_is_long(copy: Path, data: PackageRollouts) -> None:
    body = "A category and a difficulty of a task say how hard it is for a model to pass it, as one should know.\n"
    titles = ("Overview", "Input schema", "Workflow funnel", "Failure taxonomy", "Analysis workflow", "Report template")
    text = "---\nname: x\ndescription: y\n---\n" + "".join(f"## {title}\n\n{body * 8}\n" for title in titles)
    found = _skill(copy, data, text)
    assert [code for code, passed in found.items() if passed is False] == ["D1.own-words"]
    assert set(_skill(copy, data, text + "\nSee `db_match` and `calendar_move`.\n").values()) == {True}


def test_a_book_that_cannot_be_read_is_named_with_its_line(copy: Path) -> None:
    (copy / "skill" / "blade.yaml").write_text(
        "benchmark: desk\nlabels:\n  - name: x\n    rule: call [\n    cause: task\n"
    )
    package = find_package(copy)
    check = by_code(skill_checks(package, PackageRollouts(package)))["D1.book"]
    assert check.passed is False
    assert "skill/blade.yaml:4" in check.found


def test_a_quoted_todo_is_no_open_point(copy: Path, data: PackageRollouts) -> None:
    text = (copy / "skill" / "SKILL.md").read_text()
    said = '\nThe output often still holds "TODO: implement" or `# TODO`.\n'
    assert _skill(copy, data, text + said)["D1.open"] is True
    assert _skill(copy, data, text + "\nTODO: say more.\n")["D1.open"] is False
