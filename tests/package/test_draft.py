"""`blade package init` and `status`: a draft from one file, nothing overwritten, and what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blade.custom_rules.read_rule_book import rule_book_at
from blade.model.errors import BladeError
from blade.package.draft import draft_package
from blade.package.layout import find_package
from blade.package.status import status
from blade.package.validate import validate
from builders import rollout, write_jsonl
from packages import RUNS, blade


def test_a_draft_says_what_was_found(drafted: Path) -> None:
    skill = (drafted / "skill" / "SKILL.md").read_text()
    for words in ("`task_id`", "96 of 96", "`db_match`", "`calendar_move`", "graded", "`wrong-argument`"):
        assert words in skill
    book = rule_book_at(drafted / "skill" / "blade.yaml")
    assert (book.benchmark, book.pass_threshold, book.task_id) == ("desk", 1.0, "task_id")
    assert book.slices == ("category", "difficulty")
    assert "calendar_move" in book.tools.changing
    assert book.labels
    sidecar = json.loads((drafted / "golden_reports" / "heron-70b_golden_report_metrics.json").read_text())
    assert (sidecar["pass_at_1"], sidecar["total_tasks"], sidecar["total_rollouts"]) == (0.7083, 24, 96)
    assert (drafted / "rollouts" / "heron-70b_rollouts_aggregate_metrics.json").is_file()


def test_the_run_that_is_given_first_gets_the_report(tmp_path: Path) -> None:
    draft_package("desk", [str(RUNS[1]), str(RUNS[0])], tmp_path / "desk")
    assert (tmp_path / "desk" / "golden_reports" / "sparrow-8b_golden_report.md").is_file()


def test_the_same_rollouts_give_the_same_bytes(drafted: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    draft_package("desk", list(map(str, RUNS)), folder)
    for path in sorted(one for one in drafted.rglob("*") if one.is_file()):
        assert (folder / path.relative_to(drafted)).read_bytes() == path.read_bytes(), path.name


def test_nothing_is_written_over_without_force(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}", repeat=0, passed=n > 2, prompt=f"q {n}", output=f"a {n}", model="m") for n in range(5)]
    run = write_jsonl(tmp_path / "runs" / "m.jsonl", rows)
    folder = tmp_path / "made"
    (folder / "skill").mkdir(parents=True)
    (folder / "skill" / "SKILL.md").write_text("mine")
    refused = blade("init", "made", "--from", str(run), "--benchmark-dir", str(folder))
    assert refused.returncode == 2
    assert "already has skill/SKILL.md" in refused.stderr
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["SKILL.md"]
    done = blade("init", "made", "--from", str(run), "--benchmark-dir", str(folder), "--force")
    assert done.returncode == 0
    assert (folder / "skill" / "SKILL.md").read_text() != "mine"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_thin_run_gives_a_draft_that_is_true(tmp_path: Path) -> None:
    """One file without ids, verifier fields or failures: what is missing is said, and nothing in it is false."""
    run = write_jsonl(tmp_path / "r.jsonl", [{"reward": 1.0, "output": "yes"}, {"reward": 1.0, "output": "no"}])
    draft_package("thin", [str(run)], tmp_path / "thin")
    checks = {check.code: check.passed for check in validate(find_package(tmp_path / "thin")).checks}
    assert checks["D3.audit"] is True
    assert checks["D3.metrics.rollouts"] is True
    assert checks["D2.scored"] is False


@pytest.mark.parametrize("name", ["", "..", "a/b", "-x"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BladeError, match="cannot name a benchmark"):
        draft_package(name, [str(RUNS[0])], tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_no_rollouts_no_draft(tmp_path: Path) -> None:
    with pytest.raises(BladeError, match="no rollouts to draft from"):
        draft_package("x", [], tmp_path / "x")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BladeError, match="the file is empty"):
        draft_package("x", [str(tmp_path / "empty.jsonl")], tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]


def test_status_lists_parts_sidecars_and_notes(drafted: Path) -> None:
    found = status(find_package(drafted))
    there = {line.what: line.there for line in found.lines}
    assert there["aggregate metrics"]
    assert there["materialized inputs"]
    assert not there["reward profile"]
    assert not there["config files"]
    assert there["sampling settings"]
    assert there["repeat counts"]
    assert found.next.endswith("skill/SKILL.md:10")
    done = blade("status", str(drafted))
    assert done.returncode == 0
    assert "anchor facts: golden_reports/heron-70b_anchor_facts.json (12 facts, 12 not reviewed)" in done.stdout
    assert len(done.stdout.splitlines()) <= 40


def test_status_says_what_comes_next(copy: Path, tmp_path: Path) -> None:
    assert status(find_package(copy)).next.startswith("blade package validate --benchmark-dir")
    reports = copy / "golden_reports"
    (reports / "heron-70b_shallow.md").unlink()
    assert status(find_package(copy)).next.startswith("blade package make-shallow --input")
    (reports / "heron-70b_anchor_facts.json").unlink()
    assert status(find_package(copy)).next.startswith("blade package extract-anchor-facts --golden")
    (tmp_path / "new").mkdir()
    assert "blade package init new --from RUN" in status(find_package(tmp_path / "new")).next
