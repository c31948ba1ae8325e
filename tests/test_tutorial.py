"""docs/tutorial.md works as printed, `uv run` included, and shows what its commands print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docs.generate import fill
from docs.walk import Done, Step, lay_out, shown, steps, walk

ROOT = Path(__file__).parents[1]

PAGE = (ROOT / "docs/tutorial.md").read_text("utf-8")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[Step, Done]]]:
    folder = tmp_path_factory.mktemp("clone")
    lay_out(folder)
    found = steps(PAGE)
    return folder, list(zip(found, walk([step.commands for step in found], folder), strict=True))


@pytest.mark.slow
def test_every_step_ends_as_it_should(walked: tuple[Path, list[tuple[Step, Done]]]) -> None:
    codes = {step.name or step.commands: done.code for step, done in walked[1]}
    assert codes.pop("validate") == 1, "the drafts of the facts are not reviewed yet"
    assert set(codes.values()) == {0}, [done.output for _, done in walked[1] if done.code]


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(walked: tuple[Path, list[tuple[Step, Done]]]) -> None:
    page = PAGE
    for step, done in walked[1]:
        if step.name is not None:
            page = fill(page, step.name, shown(done))
    assert page == PAGE, "run `make docs`"


@pytest.mark.slow
def test_the_package_is_whole_and_uv_left_nothing_behind(walked: tuple[Path, list[tuple[Step, Done]]]) -> None:
    folder = walked[0]
    reports = folder / "benchmarks/my_desk/golden_reports"
    assert {path.name for path in reports.iterdir()} == {
        "model_a_golden_report.md",
        "model_a_golden_report_metrics.json",
        "model_a_anchor_facts.json",
        "model_a_shallow.md",
    }
    (summary,) = folder.glob("calibration-runs/*/calibration_summary.json")
    found = json.loads(summary.read_text("utf-8"))
    assert found["golden_vs_self"] >= 0.85
    assert found["shallow_vs_golden"] <= 0.4
    assert not (folder / "uv.lock").exists()


def test_long_runs_of_passing_checks_are_cut_and_counted() -> None:
    output = "\n".join([*(f"[PASS] {n}" for n in range(30)), "[FAIL] x", "       fix: y", "[PASS] z"])
    lines = shown(Done(output=output, code=1)).splitlines()
    assert lines[:5] == ["```text", "[PASS] 0", "[PASS] 1", "[PASS] 2", "... 27 more that pass"]
    assert lines[5:] == ["[FAIL] x", "       fix: y", "[PASS] z", "(exit code 1)", "```"]


def test_a_short_output_is_kept_whole_without_the_time_of_day() -> None:
    assert shown(Done(output="[PASS] a\nwritten: runs/20260102T030405Z\n", code=0)) == (
        "```text\n[PASS] a\nwritten: runs/TIME\n```"
    )
