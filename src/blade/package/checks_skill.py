"""D1: is there a skill for this benchmark, with substance and in its own words?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from blade.model.check import Check
from blade.package.documents import OF_SKILL, RequiredSection, is_utf8, open_check, read_text, sections
from blade.package.front_matter import FrontMatter, read_front_matter
from blade.package.layout import Package, shown
from blade.package.rollouts import PackageRollouts

FEWEST_LINES = 50
FEWEST_FILLED = 25
"""Lines that are not blank."""
FEWEST_HEADINGS = 3
FEWEST_WORDS = 12
"""Of a section that says something."""
FEWEST_NAMES = 2
"""Names of the benchmark that its skill must use."""
COMMON_FIELDS = frozenset({
    "reward", "score", "response", "responses_create_params", "agent_ref", "_ng_task_index", "_ng_rollout_index",
    "_ng_attempt_index", "_task_index", "_rollout_index", "task_index", "rollout_index", "rollout_id", "task_id",
    "id", "uuid", "model", "agent", "messages", "output", "prompt", "input", "metadata", "usage", "tools",
    "skills_ref",
})  # fmt: skip
"""Fields that rows of any benchmark have."""
_CODE = re.compile(r"`([^`\n]+)`")
_TELLING = re.compile(r"[_\-/]|\d|[a-z][A-Z]")


def skill_checks(package: Package, data: PackageRollouts) -> Iterator[Check]:
    """Everything about D1, in the order of the file."""
    if package.skill is None:
        yield Check(
            code="D1.skill",
            passed=False,
            message="D1 skill missing",
            found="looked for skill/SKILL.md and SKILL.md",
            fix="add skill/SKILL.md; `blade package init NAME --from RUN` drafts one from a rollouts file",
        )
        return
    name, text = shown(package.skill, package.folder), read_text(package.skill)
    head = read_front_matter(text)
    lines = text.rstrip("\n").count("\n") + 1
    yield Check(code="D1.skill", passed=True, message="D1 skill found", found=f"{name}, {lines:,} lines")
    yield _frontmatter(name, head, is_utf8(package.skill))
    yield _length(name, text)
    for wanted in OF_SKILL:
        yield _section(name, wanted, head)
    yield _own_words(name, head, data)
    if package.rule_book is not None:
        yield _rule_book(shown(package.rule_book, package.folder), data)
    yield open_check(package, "skill", "D1.open")


def _frontmatter(name: str, head: FrontMatter, utf8: bool) -> Check:
    faults = [*head.faults, *([] if utf8 else ["the file is not UTF-8"])]
    return Check(
        code="D1.frontmatter",
        passed=not faults,
        message="D1 frontmatter",
        found=f"{name}: " + ("; ".join(faults) or f"name {head.values['name']!r} and a description"),
        fix="begin the file with `---`, `name: lower-case-with-hyphens`, `description: what it is for and when`, `---`",
    )


def _length(name: str, text: str) -> Check:
    lines = text.rstrip("\n").split("\n")
    filled = [line for line in lines if line.strip()]
    headings = [one for one in sections(text) if one.level == 2]
    return Check(
        code="D1.length",
        passed=len(lines) >= FEWEST_LINES and len(filled) >= FEWEST_FILLED and len(headings) >= FEWEST_HEADINGS,
        message="D1 substantive content",
        found=f"{name}: {len(lines):,} lines (at least {FEWEST_LINES}), {len(filled):,} of them not blank "
        f"(at least {FEWEST_FILLED}), {len(headings)} `##` headings (at least {FEWEST_HEADINGS})",
        fix="write the six sections out: a reader must be able to analyze a rollout with this file alone",
    )


def _section(name: str, wanted: RequiredSection, head: FrontMatter) -> Check:
    section = wanted.find(sections(head.body))
    words = section.words if section is not None else 0
    where = f"{name}: no heading means it" if section is None else f"{name}: {section.title!r}, {words} words"
    return Check(
        code=f"D1.section.{wanted.title.lower().replace(' ', '-')}",
        passed=words >= FEWEST_WORDS,
        message=f"D1 section {wanted.title}",
        found=where + (f" (at least {FEWEST_WORDS})" if section is not None and words < FEWEST_WORDS else ""),
        fix=f"write `## {wanted.title}` with: {wanted.holds}",
    )


def _own_words(name: str, head: FrontMatter, data: PackageRollouts) -> Check:
    message = "D1 names the benchmark's own fields, labels or tools"
    own = own_names(data)
    if not own:
        return Check(
            code="D1.own-words", passed=None, message=message, found="no rollouts say what this benchmark calls things"
        )
    used = _names_in(head.body, own)
    needed = min(FEWEST_NAMES, len(own))
    some = ", ".join(f"`{one}`" for one in (used or own)[:6])
    found = f"{len(used)} of {len(own)} names seen in the rollouts, such as {some}"
    return Check(
        code="D1.own-words",
        passed=len(used) >= needed,
        message=message,
        found=f"{name}: {found}" if used else f"{name}: generic; it names none of {some}",
        fix=f"say in Input schema and Failure taxonomy what these are, in backticks: {', '.join(own[:8])}",
    )


def _rule_book(name: str, data: PackageRollouts) -> Check:
    book = data.rule_book
    counted = f"{len(book.labels)} labels, {len(book.funnel)} stages" if book is not None else data.rule_book_fault
    return Check(
        code="D1.book",
        passed=book is not None,
        message="D1 blade.yaml parses",
        found=f"{name}: {counted}" if book is not None else counted,
        fix="mend the line that is named; docs/packages.md shows the file",
    )


def own_names(data: PackageRollouts) -> tuple[str, ...]:
    """Names that only this benchmark has, tools first; where rows have nothing of their own, all their fields."""
    tools = sorted({tool for run in data.runs for tool in run.tools})
    fields = sorted({field.path for run in data.runs for field in run.schema})
    labels = [label.name for label in data.rule_book.labels] if data.rule_book is not None else []
    own = [*tools, *(field for field in fields if field not in COMMON_FIELDS), *labels]
    return tuple(dict.fromkeys(own or fields))


def _names_in(text: str, names: Sequence[str]) -> list[str]:
    """The names that a text uses; one that is also a plain word counts only in backticks."""
    quoted = " ".join(_CODE.findall(text)) + " " + " ".join(text.split("```")[1::2])
    return [
        name
        for name in names
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text if _TELLING.search(name) else quoted)
    ]
