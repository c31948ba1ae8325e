"""`blade package validate`: what a user sees, and that a package without substance fails on every count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blade.model.errors import RequestError
from blade.package.layout import find_package
from blade.package.validate import validate
from builders import write_jsonl
from packages import blade


def test_a_finished_package_passes_every_check_and_item(finished: Path) -> None:
    found = validate(find_package(finished))
    assert [check for check in found.checks if check.passed is False] == []
    assert found.passed
    assert [item.done for item in found.items] == [True] * 7


def test_a_draft_fails_on_what_is_open_and_on_nothing_else(drafted: Path) -> None:
    found = validate(find_package(drafted))
    failing = {check.code for check in found.checks if check.passed is False}
    assert failing == {"D1.open", "D2.open", "D3.open", "D3.facts.reviewed", "S.clearance"}
    listed = next(check for check in found.checks if check.code == "D1.open")
    assert "skill/SKILL.md:10: OPEN: say in two sentences" in listed.found


def test_the_five_failures_are_worded_as_printed_with_what_was_found_and_a_fix(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "rollouts" / "model_a_rollouts.jsonl", [{"reward": 1.0}, {"reward": 0.0}])
    (tmp_path / "golden_reports").mkdir()
    (tmp_path / "golden_reports" / "model_a_golden_report.md").write_text("## Results\n")
    done = blade("validate", "--benchmark-dir", str(tmp_path), "--phase", "all")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    for words in (
        "[FAIL] D1 skill missing: looked for skill/SKILL.md and SKILL.md",
        "[FAIL] At least two scored rollout files: 1 different scored run in 1 files",
        "[FAIL] task id field present: rollouts/model_a_rollouts.jsonl: 0 of 2 rows",
        "[FAIL] missing metrics sidecar: golden_reports/model_a_golden_report.md has none",
        "[FAIL] missing anchor facts: golden_reports/model_a_golden_report.md has none",
    ):
        place = next(number for number, line in enumerate(lines) if line.startswith(words))
        assert lines[place + 1].startswith("       fix: ")
    assert lines[-1].startswith("Summary: ")
    assert lines[-1].endswith(" checks passed")


def test_every_failure_has_a_fix_and_the_sum_counts_the_lines(copy: Path) -> None:
    (copy / "skill" / "SKILL.md").write_text("nothing\n")
    done = blade("validate", str(copy), "--phase", "skill")
    lines = done.stdout.splitlines()
    failing, passing = (sum(line.startswith(mark) for line in lines) for mark in ("[FAIL]", "[PASS]"))
    assert sum(line.startswith("       fix: ") for line in lines) == failing > 0
    assert lines[-1] == f"Summary: {passing}/{passing + failing} checks passed"
    assert done.returncode == 1


def test_json_has_the_failures_first(finished: Path) -> None:
    done = blade("validate", str(finished), "--phase", "skill", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["passed"] is True
    assert {check["verdict"] for check in found["checks"]} == {"pass"}


def test_what_cannot_be_asked_ends_with_two(tmp_path: Path) -> None:
    assert blade("validate").returncode == 2
    assert blade("validate", str(tmp_path / "absent")).returncode == 2
    refused = blade("validate", str(tmp_path), "--phase", "skills")
    assert refused.returncode == 2
    assert "hint: one of all, skill, rollouts, golden" in refused.stderr
    with pytest.raises(RequestError):
        validate(find_package(tmp_path), "everything")


def test_a_package_of_form_alone_fails_on_every_count(tmp_path: Path) -> None:
    """Blank lines for a skill, null rewards, other tasks in each file, a percentage, eight times the same fact."""
    (tmp_path / "skill").mkdir()
    head = "---\nname: x\ndescription: y\n---\n"
    (tmp_path / "skill" / "SKILL.md").write_text(head + "\n" * 50 + "## a\n## b\n## c\n")
    for model, first in (("a", 0), ("b", 100)):
        rows = [{"task_id": f"t{first + number}", "reward": None, "rollout_index": 0} for number in range(10)]
        write_jsonl(tmp_path / "rollouts" / f"{model}_rollouts.jsonl", rows)
    golden = tmp_path / "golden_reports"
    golden.mkdir()
    (golden / "a_golden_report.md").write_text("## x\n" * 45)
    sidecar = {"model_name": "a", "benchmark": "x", "pass_at_1": 99.0, "total_tasks": 10}
    (golden / "a_golden_report_metrics.json").write_text(json.dumps(sidecar))
    facts = [{"id": f"B{number}", "fact": "a" * 30, "difficulty": "high"} for number in range(8)]
    (golden / "a_anchor_facts.json").write_text(json.dumps({"anchor_facts": facts}))
    found = validate(find_package(tmp_path))
    failing = {check.code for check in found.checks if check.passed is False}
    assert failing >= {
        "D1.length",
        "D1.section.overview",
        "D1.section.failure-taxonomy",
        "D1.own-words",
        "D2.scored",
        "D2.comparable",
        "D2.reward",
        "D3.sections",
        "D3.evidence",
        "D3.metrics.rollouts",
        "D3.metrics.report",
        "D3.facts.concrete",
        "D3.facts.distinct",
        "D3.facts.supported",
        "D3.shallow",
    }
    assert not any(item.done for item in found.items)


HOSTILE = {
    "rollouts/a_rollouts.jsonl": b'3\n"x"\nnull\n[1]\n{"task_id": 1, "reward": "\xff"}\n\n{"reward": NaN}\n',
    "rollouts/b_rollouts.jsonl": b"\xff\xfe\x00\x01",
    "rollouts/c_rollouts.jsonl": b"",
    "skill/SKILL.md": b"\xef\xbb\xbf---\r\nname: [a\r\n---\r\n\xff\xff",
    "skill/blade.yaml": b"labels: [[[[",
    "golden_reports/a_golden_report.md": b"\xff" * 50,
    "golden_reports/a_golden_report_metrics.json": b"[1, 2",
    "golden_reports/a_anchor_facts.json": b'[1, null, {"fact": 3}, {"fact": ""}, "x"]',
    "golden_reports/a_shallow.md": b"",
    "golden_reports/b_golden_report.md": b"",
    "golden_reports/b_golden_report_metrics.json": b'{"pass_at_1": 1e999, "total_tasks": true, "buckets": []}',
    "golden_reports/b_anchor_facts.json": b"{}",
}


def test_bad_files_are_failures_and_never_a_crash(tmp_path: Path) -> None:
    for name, content in HOSTILE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    found = validate(find_package(tmp_path))
    failing = {check.code for check in found.checks if check.passed is False}
    assert failing >= {"D1.frontmatter", "D1.book", "D2.readable", "D3.metrics", "D3.facts", "D3.shallow"}


def test_nothing_depends_on_the_order_of_hashes(copy: Path) -> None:
    (copy / "skill" / "SKILL.md").write_text("---\nname: a\n---\n## Overview\n")
    outputs = {blade("validate", str(copy), seed=seed).stdout for seed in ("1", "2")}
    assert len(outputs) == 1
