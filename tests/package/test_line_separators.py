"""Characters at which `str.splitlines` breaks a text are no ends of lines: in ids, reports and lists they stay inside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import planted
from blade.package.anchor_facts import facts_text, parse_facts
from blade.package.draft import draft_package
from blade.package.extract_facts import extract
from blade.package.judge.calibrate import controls
from blade.package.layout import Package, find_package
from blade.package.rollouts import PackageRollouts
from blade.package.sanitize import sanitize
from blade.package.shallow import shallow
from blade.package.validate import validate
from packages import RUNS, by_code

SEPARATORS = ["\u2028", "\u2029", "\x85", "\x1c", "\x0b"]


def _rows(folder: Path, separator: str) -> Path:
    """The example with the separator in every id of its mail tasks, as JSON writes it and as it is."""
    with RUNS[0].open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    path = folder / RUNS[0].name
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, row in enumerate(rows):
            row["task_id"] = row["task_id"].replace("mail-", f"mail{separator}")
            file.write(json.dumps(row, ensure_ascii=bool(number % 2)) + "\n")
    return path


def _validated(folder: Path, separator: str) -> tuple[Package, dict[str, bool | None]]:
    folder.mkdir()
    draft_package("desk", [str(_rows(folder, separator))], folder / "desk")
    package = find_package(folder / "desk")
    return package, {code: check.passed for code, check in by_code(validate(package).checks).items()}


@pytest.mark.slow
def test_a_package_is_drafted_and_validated(tmp_path: Path) -> None:
    """Reports show a blank for such a character, so that the checks say what they say of ids with a blank."""
    _, expected = _validated(tmp_path / "blank", " ")
    for name, separator in (("line", "\u2028"), ("next", "\x85")):
        package, checks = _validated(tmp_path / name, separator)
        assert f"mail{separator}1" in set(PackageRollouts(package).runs[0].tasks["task_id"])
        assert checks == expected
        report = package.goldens[0].report.read_text(encoding="utf-8")
        assert [control.name for control in controls(report) if control.text is None] == []


@pytest.mark.parametrize("separator", SEPARATORS)
def test_facts_are_drafted_from_whole_sentences(separator: str) -> None:
    sentence = f'In 39#1:6 the agent says "Since you have{separator}travel insurance, you are eligible" and cancels.'
    report = f"# Report\n\n## Findings\n\n{sentence}\n\n## Aggregate results\n\n| pass@1 | 0.5 |\n| --- | --- |\n"
    facts = extract(report, 3)
    assert len(facts) == 1
    assert facts[0].fact.startswith("In 39#1:6")
    assert facts[0].fact.endswith("and cancels.")
    assert len(parse_facts(facts_text("b", "m", facts)).facts) == 1
    assert shallow(report).startswith("# Report\n")


@pytest.mark.parametrize("separator", SEPARATORS)
def test_sanitize_counts_lines_as_editors_do(tmp_path: Path, separator: str) -> None:
    key = next(iter(planted.provider_keys().values()))
    (tmp_path / "notes.md").write_text(f"one{separator}line\ntwo\n{key}\n", encoding="utf-8", newline="\n")
    (tmp_path / "sanitize.deny").write_text(f"# names{separator}of partners\nHolm {separator} Sons\n", encoding="utf-8")
    (tmp_path / "names.md").write_text("partners Sons\n", encoding="utf-8")
    found = sanitize(tmp_path)
    assert [(one.file, one.lines) for count in found.counts for one in count.files] == [("notes.md", (3,))]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_clearance_needs_a_line_of_its_own(tmp_path: Path, separator: str) -> None:
    (tmp_path / "rollouts").mkdir()
    (tmp_path / "rollouts" / "a_rollouts.jsonl").write_text("{}\n")
    clearance = tmp_path / "rollouts" / "CLEARANCE.md"
    clearance.write_text(f"never write{separator}cleared: yes\nlicence: MIT\n", encoding="utf-8")
    assert sanitize(tmp_path).clearance.passed is False
    clearance.write_bytes(b"cleared: yes\r\nlicence: MIT\r\n")
    assert sanitize(tmp_path).clearance.passed is True
