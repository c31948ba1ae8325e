"""The four commands of the judge, as the tutorial calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from blade.cli.main import command_line

EXAMPLES = Path(__file__).parents[2] / "examples" / "desk_assistant"
BY_HAND = Path(__file__).parents[1] / "claims" / "foreign.md"


def run(*words: object) -> Result:
    return CliRunner().invoke(command_line(), ["package", *map(str, words)], catch_exceptions=False)


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of golden reports with facts and shallow baseline, made by the commands themselves."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "desk" / "golden_reports"
    folder.mkdir(parents=True)
    golden = folder / "heron_golden_report.md"
    golden.write_text(BY_HAND.read_text("utf-8"), "utf-8")
    facts, shallow = folder / "heron_anchor_facts.json", folder / "heron_shallow.md"
    done = run(
        "extract-anchor-facts", "--golden", golden, "--benchmark", "desk", "--model-name", "heron-70b", "--output", facts
    )  # fmt: skip
    assert done.exit_code == 0
    assert run("make-shallow", "--input", golden, "--output", shallow).exit_code == 0
    return folder


def _score(folder: Path, report: Path, *more: object) -> Result:
    golden, facts = folder / "heron_golden_report.md", folder / "heron_anchor_facts.json"
    return run("score", "--report", report, "--golden", golden, "--anchor-facts", facts, *more)


def _calibrate(folder: Path, *more: object) -> Result:
    return run(
        "calibrate",
        "--golden-report", folder / "heron_golden_report.md",
        "--anchor-facts", folder / "heron_anchor_facts.json",
        "--shallow-report", folder / "heron_shallow.md",
        *more,
    )  # fmt: skip


def test_facts_are_drafts_in_the_format_of_the_tutorial(reports: Path) -> None:
    made = json.loads((reports / "heron_anchor_facts.json").read_text("utf-8"))
    assert (made["benchmark"], made["model"]) == ("desk", "heron-70b")
    assert [fact["id"] for fact in made["anchor_facts"]] == [f"B{n}" for n in range(1, 13)]
    assert {fact["status"] for fact in made["anchor_facts"]} == {"draft"}
    assert {"ids", "quantity", "relation", "polarity", "recompute"} <= made["anchor_facts"][0]["claim"].keys()


def test_too_few_facts_are_a_failure_and_write_nothing(tmp_path: Path) -> None:
    report, out = tmp_path / "r.md", tmp_path / "f.json"
    report.write_text("# R\n\nAll is well.\n", "utf-8")
    done = run("extract-anchor-facts", "--golden", report, "--benchmark", "b", "--model-name", "m", "--output", out)
    assert done.exit_code == 1
    assert "0 facts could be drafted, fewer than 8" in done.output
    assert not out.exists()


def test_score_exits_0_whatever_the_score_and_writes_reward_json(reports: Path, tmp_path: Path) -> None:
    for name, low, high in (("heron_golden_report.md", 0.85, 1.0), ("heron_shallow.md", 0.0, 0.4)):
        done = _score(reports, reports / name, "--output-dir", tmp_path / "out")
        assert done.exit_code == 0
        made = json.loads((tmp_path / "out" / "reward.json").read_text("utf-8"))
        assert low <= made["final_score"] <= high
        assert {fact["met"] for fact in made["anchor_facts"]} <= {"yes", "part", "no", "contradicted"}
        assert made["parts"].keys() == {"facts", "breadth", "structure", "truth"}


def test_without_a_folder_the_score_goes_into_one_of_its_own(reports: Path, tmp_path: Path) -> None:
    done = _score(reports, reports / "heron_shallow.md", "--json")
    (written,) = (tmp_path / "score-runs").glob("*/reward.json")
    assert json.loads(done.output) == json.loads(written.read_text("utf-8"))


def test_calibration_holds_and_writes_a_folder_for_each_control(reports: Path, tmp_path: Path) -> None:
    done = _calibrate(reports)
    assert done.exit_code == 0
    (out,) = (tmp_path / "calibration-runs").iterdir()
    made = json.loads((out / "calibration_summary.json").read_text("utf-8"))
    assert made["golden_vs_self"] >= 0.85
    assert made["shallow_vs_golden"] <= 0.4
    assert made["spread"] == round(made["golden_vs_self"] - made["shallow_vs_golden"], 4)
    assert made["controls"]["other-model"]["skipped"]
    folders = {path.parent.name for path in out.glob("*/reward.json")}
    assert {"golden-vs-self", "shallow-vs-golden", "negated-vs-golden", "word-list-vs-golden"} <= folders
    assert done.output.count("[PASS]") == 8
    assert "[SKIP] other-model" in done.output


def test_another_golden_report_of_the_package_is_a_control(reports: Path) -> None:
    (reports / "sparrow_golden_report.md").write_text("# Sparrow\n\nTask mail-1 fails in 3 of 4 rollouts.\n", "utf-8")
    assert "[PASS] other-model" in _calibrate(reports).output


@pytest.mark.parametrize(
    ("facts", "signal"),
    [
        ([], "weak anchor facts: the fact file: there are no anchor facts"),
        (["Task zebra-9 loops in 7 of 9 rollouts."], "missing evidence: fact B1"),
        (["pass@2 is 0.833 for Heron-70B.", "pass@4 is 0.917 for Heron-70B."], "shallow report too close to golden"),
    ],
)
def test_a_missed_target_is_a_failure_with_its_review_signal(reports: Path, facts: list[str], signal: str) -> None:
    (reports / "heron_anchor_facts.json").write_text(json.dumps(facts), "utf-8")
    if "too close" in signal:
        (reports / "heron_shallow.md").write_text(BY_HAND.read_text("utf-8"), "utf-8")
    done = _calibrate(reports)
    assert done.exit_code == 1
    assert f"review signal: {signal}" in done.output


def test_a_section_without_evidence_is_named(reports: Path) -> None:
    golden = reports / "heron_golden_report.md"
    golden.write_text("# R\n\n## Dominant Failure Modes\n\nIt is often wrong.\n", "utf-8")
    done = _calibrate(reports)
    assert done.exit_code == 1
    assert "report sections that need more diagnostic detail: section 'Dominant Failure Modes'" in done.output


def test_what_the_audit_finds_false_counts_against_a_report(reports: Path, tmp_path: Path) -> None:
    golden = (reports / "heron_golden_report.md").read_text("utf-8")
    worse = tmp_path / "worse.md"
    worse.write_text(golden + "\n\nHeron-70B passes 12 of 96 rollouts. tickets-9#7:3 fails.\n", "utf-8")
    runs = ("--runs", EXAMPLES / "heron-70b_rollouts.jsonl", EXAMPLES / "sparrow-8b_rollouts.jsonl")
    right = json.loads(_score(reports, reports / "heron_golden_report.md", *runs, "--json").output)
    wrong = json.loads(_score(reports, worse, *runs, "--json").output)
    assert right["compared"]["audited"]["false"] == 0
    assert wrong["compared"]["audited"]["false"] >= 1
    assert wrong["final_score"] < right["final_score"]


def test_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    from blade.model.errors import BladeError

    with pytest.raises(BladeError, match="cannot read"):
        run("make-shallow", "--input", tmp_path / "none.md", "--output", tmp_path / "s.md")
