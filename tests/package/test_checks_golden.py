"""D3: each check fires on what it is for, and not on a report that says what the data says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blade.model.check import Check
from blade.package.checks_golden import golden_checks
from blade.package.layout import find_package
from blade.package.rollouts import PackageRollouts
from packages import by_code, edit, edit_json

MODEL = "heron-70b"


@pytest.fixture
def golden(copy: Path) -> Path:
    return copy / "golden_reports"


def _checks(folder: Path, data: PackageRollouts, fewest: int = 8) -> dict[str, Check]:
    return by_code(golden_checks(find_package(folder.parent), data, fewest))


def _failing(found: dict[str, Check]) -> set[str]:
    return {code for code, check in found.items() if check.passed is False}


def _facts(golden: Path) -> list[dict[str, object]]:
    return list(json.loads((golden / f"{MODEL}_anchor_facts.json").read_text())["anchor_facts"])


def _write_facts(golden: Path, facts: list[dict[str, object]]) -> None:
    (golden / f"{MODEL}_anchor_facts.json").write_text(json.dumps({"anchor_facts": facts}))


def test_a_finished_report_passes(golden: Path, data: PackageRollouts) -> None:
    found = _checks(golden, data)
    assert _failing(found) == set()
    assert found["D3.subject"].found.endswith(f"run {MODEL}")


def test_no_report_is_said(golden: Path, data: PackageRollouts) -> None:
    for path in golden.iterdir():
        path.unlink()
    assert _failing(_checks(golden, data)) == {"D3.report"}


def test_a_number_that_was_changed_is_false(golden: Path, data: PackageRollouts) -> None:
    edit(golden / f"{MODEL}_golden_report.md", "(68 of 96 judged rollouts passed", "(69 of 96 judged rollouts passed")
    found = _checks(golden, data)
    assert _failing(found) == {"D3.audit"}
    assert "'69'" in found["D3.audit"].found
    assert "found 68" in found["D3.audit"].found


def test_a_quotation_and_a_task_that_do_not_exist_are_false(golden: Path, data: PackageRollouts) -> None:
    report = golden / f"{MODEL}_golden_report.md"
    said = '\nIn calendar-4#1:6 the agent says "I moved it to the moon for you." and calendar-77#0 does the same.\n'
    report.write_text(report.read_text() + said)
    found = _checks(golden, data)["D3.audit"].found
    assert "I moved it to the moon" in found
    assert "calendar-77#0" in found


def test_tables_alone_are_no_evidence(golden: Path, data: PackageRollouts) -> None:
    report = golden / f"{MODEL}_golden_report.md"
    kept = [line for line in report.read_text().split("\n") if line.startswith(("|", "#")) or not line]
    report.write_text("\n".join(kept))
    assert "D3.evidence" in _failing(_checks(golden, data))


def test_a_section_that_is_missing_is_named(golden: Path, data: PackageRollouts) -> None:
    report = golden / f"{MODEL}_golden_report.md"
    edit(report, "## 10. Recommendations", "## 10. Odds and ends")
    edit(report, "## 7. Sometimes-Pass Deep Dives", "## 7. Some tasks")
    found = _checks(golden, data)["D3.sections"]
    assert found.passed is False
    assert "missing or empty: Sometimes-pass deep dives, Recommendations" in found.found


def test_a_comparison_must_name_the_other_run(golden: Path, data: PackageRollouts) -> None:
    report = golden / f"{MODEL}_golden_report.md"
    before, mark, rest = report.read_text().partition("## 9. Cross-Model Comparison\n")
    _, after, end = rest.partition("## 10. ")
    report.write_text(f"{before}{mark}\nOne run: no model can be set against another.\n\n{after}{end}")
    assert "Cross-model comparison" in _checks(golden, data)["D3.sections"].found


def test_a_report_about_nobody_known(golden: Path, data: PackageRollouts) -> None:
    for path in golden.iterdir():
        path.rename(golden / path.name.replace(MODEL, "falcon"))
    edit_json(golden / "falcon_golden_report_metrics.json", model_name="falcon")
    found = _checks(golden, data)["D3.subject"]
    assert found.passed is False
    assert "heron-70b, sparrow-8b" in found.found


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"pass_at_1": 70.83}, "pass_at_1 is 70.83 (a percentage: write the fraction), the rollouts give 0.7083"),
        ({"pass_at_1": 0.72}, "pass_at_1 is 0.72, the rollouts give 0.7083"),
        ({"total_tasks": 25}, "total_tasks is 25, the rollouts give 24"),
        ({"passed": 67}, "passed is 67, the rollouts give 68"),
        ({"pass_at_2": 0.9}, "pass_at_2 is 0.9, the rollouts give 0.8333"),
        ({"buckets": {"never_pass": 3}}, "never_pass is 3, the rollouts give 2"),
        ({"per_category": {"mail": 0.8}}, "category.mail is 0.8, the rollouts give 0.7083"),
        ({"difficulty": {"hard": {"passed": 14}}}, "difficulty.hard.passed is 14, the rollouts give 13"),
        ({"dominant_failure_count": 10}, "dominant_failure_count is 10, the rollouts give 12"),
        ({"model_name": "sparrow-8b"}, "model_name is sparrow-8b, which is run sparrow-8b"),
    ],
)
def test_a_sidecar_is_made_again_from_the_rollouts(
    golden: Path, data: PackageRollouts, values: dict[str, object], fault: str
) -> None:
    edit_json(golden / f"{MODEL}_golden_report_metrics.json", **values)
    found = _checks(golden, data)["D3.metrics.rollouts"]
    assert found.passed is False
    assert fault in found.found


@pytest.mark.parametrize("value", [0.71, 0.708, 0.7083, 0.7083333333333334])
def test_a_sidecar_may_round(golden: Path, data: PackageRollouts, value: float) -> None:
    edit_json(golden / f"{MODEL}_golden_report_metrics.json", pass_at_1=value)
    assert _failing(_checks(golden, data)) == set()


def test_a_sidecar_that_the_report_does_not_bear_out(golden: Path, data: PackageRollouts) -> None:
    (golden / f"{MODEL}_golden_report.md").write_text("## Summary\n\nIt went well.\n" * 20)
    found = _checks(golden, data)["D3.metrics.report"]
    assert "does not state pass_at_1 0.7083, pass_at_k 0.9167, total_tasks 24" in found.found


def test_a_sidecar_needs_three_of_the_common_keys(golden: Path, data: PackageRollouts) -> None:
    (golden / f"{MODEL}_golden_report_metrics.json").write_text('{"pass_at_1": 0.7083, "benchmark": "desk"}')
    assert "D3.metrics" in _failing(_checks(golden, data))


def test_facts_that_nobody_reviewed_fail(golden: Path, data: PackageRollouts) -> None:
    facts = _facts(golden)
    _write_facts(golden, [facts[0] | {"status": "draft"}, *facts[1:]])
    found = _checks(golden, data)
    assert _failing(found) == {"D3.facts.reviewed"}
    assert "B1 is draft" in found["D3.facts.reviewed"].found


def test_too_few_facts_fail_by_the_number_that_is_asked_for(golden: Path, data: PackageRollouts) -> None:
    _write_facts(golden, _facts(golden)[:6])
    assert {"D3.facts"} <= _failing(_checks(golden, data))
    assert _failing(_checks(golden, data, fewest=6)) == set()


def test_weak_facts_are_told_apart(golden: Path, data: PackageRollouts) -> None:
    facts = _facts(golden)
    weak: list[dict[str, object]] = [
        {"id": "W1", "fact": "Too short."},
        {"id": "W2", "fact": "The agent does not do what it should do very often."},
        {"id": "W3", "fact": "In mail-6#0 the agent answers within 4711 seconds of the request."},
        {"id": "N1", "fact": "Task mail-6 passes in all four repeats, as mail-6#0 shows."},
        {"id": "W4", "fact": "The pass rate is higher than one would think.", "aggregate_only": True},
    ]
    _write_facts(golden, [*facts, *weak])
    found = _checks(golden, data)
    assert "W1 has 10 characters" in found["D3.facts.concrete"].found
    assert "W2 has no id, no number and no quotation" in found["D3.facts.concrete"].found
    assert "W3: the report does not have the number 4711" in found["D3.facts.supported"].found
    assert "N1: the report does not say so" in found["D3.facts.supported"].found
    assert "W4 is marked aggregate_only" in found["D3.facts.evidence"].found


def test_a_fact_that_is_false_in_the_data_is_named(golden: Path, data: PackageRollouts) -> None:
    false: dict[str, object] = {"id": "F1", "fact": "Of 96 rollouts, 28 failed; task tickets-5 passes 3 of 4 rollouts."}
    _write_facts(golden, [*_facts(golden), false])
    assert "F1: " in _checks(golden, data)["D3.facts.true"].found


def test_copies_do_not_count_as_facts(golden: Path, data: PackageRollouts) -> None:
    facts = _facts(golden)
    _write_facts(golden, [facts[0] | {"id": f"C{number}"} for number in range(8)])
    assert "D3.facts.distinct" in _failing(_checks(golden, data))


def test_one_difficulty_for_all_needs_a_reason(golden: Path, data: PackageRollouts) -> None:
    plain: list[dict[str, object]] = [
        {"id": one["id"], "fact": one["fact"], "difficulty": "high"} for one in _facts(golden)
    ]
    _write_facts(golden, plain)
    assert _failing(_checks(golden, data)) == {"D3.facts.difficulty"}
    _write_facts(golden, [one | {"reason": "it takes reading three rollouts"} for one in plain])
    assert _failing(_checks(golden, data)) == set()


@pytest.mark.parametrize(
    ("shallow", "fault"),
    [
        ("", "an empty file is no control"),
        (None, "it is the golden report itself"),
        ("mail-6#0:8 and mail-6#1:8. " * 30, "it cites evidence"),
    ],
)
def test_a_baseline_must_be_shallow(golden: Path, data: PackageRollouts, shallow: str | None, fault: str) -> None:
    text = (golden / f"{MODEL}_golden_report.md").read_text() if shallow is None else shallow
    (golden / f"{MODEL}_shallow.md").write_text(text)
    found = _checks(golden, data)
    assert _failing(found) == {"D3.shallow"}
    assert fault in found["D3.shallow"].found


def test_a_comparison_needs_neither_sidecar_nor_facts(golden: Path, data: PackageRollouts) -> None:
    said = """# heron-70b against sparrow-8b

## Summary

heron-70b passes 68 of 96 rollouts.

## Evidence

- In calendar-4#1:6 of heron-70b the agent says "The Design review has been moved."
- In tickets-6#1:6 of heron-70b the agent says "Ada's open ticket is closed, and she knows."
- In directory-4#0:7 of heron-70b the agent says "The projector ticket is now with Dina."
"""
    (golden / "heron_vs_sparrow_golden_report.md").write_text(said + "\nNothing more was seen.\n" * 20)
    assert _failing(_checks(golden, data)) == set()


BESIDE_ANOTHER = """# The desk assistant

## Executive Summary

pass@1 is 0.708: {passed} of 96 rollouts passed.

## Cross-Model Comparison

sparrow-8b passes 55 of 95 judged rollouts. It fails 40 of them.
"""


def test_what_is_said_of_no_run_is_held_to_the_reports_own(golden: Path, data: PackageRollouts) -> None:
    report = golden / f"{MODEL}_golden_report.md"
    report.write_text(BESIDE_ANOTHER.format(passed=68))
    assert _checks(golden, data)["D3.audit"].passed
    report.write_text(BESIDE_ANOTHER.format(passed=55))
    found = _checks(golden, data)["D3.audit"]
    assert found.passed is False
    assert "line 5: '55'" in found.found
