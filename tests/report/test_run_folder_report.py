"""A run folder in the report: its own score beside ours, and what could not be read once for each reason."""

from __future__ import annotations

import json
from pathlib import Path

from blade.analysis import analyze, load
from blade.model.analysis import Analysis
from blade.model.options import Options
from blade.report import as_json
from blade.report.documents import metrics
from blade.report.sections import report
from blade.report.terminal import summary
from ingest.formats.run_folders import terminal_bench, write


def analyzed(folder: Path) -> Analysis:
    return analyze(load([str(folder)], Options()), Options())


def test_a_recorded_number_may_count_trials_without_a_verdict_as_failures(tmp_path: Path) -> None:
    analysis = analyzed(terminal_bench(tmp_path / "run", {"a": [True], "b": [False], "c": [None]}))
    (number,) = analysis.runs[0].recorded
    assert (number.recomputed, number.all_expected) == (0.5, 1 / 3)
    assert (number.agrees, number.reading) == (True, "all expected")
    page = report(analysis)
    assert "accuracy 0.333 over all expected rollouts (0.5 over those with a verdict)" in page
    assert "do not agree" not in page


def test_a_number_that_neither_reading_gives_is_a_disagreement(tmp_path: Path) -> None:
    folder = terminal_bench(tmp_path / "run", {"a": [True], "b": [False], "c": [None]})
    stated = json.loads((folder / "results.json").read_text())
    write(folder / "results.json", stated | {"accuracy": 0.9})
    analysis = analyzed(folder)
    assert [(one.agrees, one.reading) for one in analysis.runs[0].recorded] == [(False, None)]
    assert "0.5 judged, 0.333 all expected" in report(analysis)


def test_equal_problems_are_told_once_with_how_often(tmp_path: Path) -> None:
    folder = terminal_bench(tmp_path / "run", {name: [True] for name in "abcd"})
    analysis = analyzed(folder)
    pointer = "agent.log: it is a Git LFS pointer, and its content is not here"
    printed = " ".join("\n".join(summary(analysis)).split())
    assert printed.count("Git LFS pointer") == 1
    assert "4 places" in printed
    assert f"{pointer} (in 4 places; this is the first)" in report(analysis)
    told = json.loads(as_json.summary(analysis, {}))["problems"]
    assert [(one["reason"], one["places"]) for one in told] == [(pointer, 4)]
    assert len(metrics(analysis.runs[0]).problems) == 4, "every place is kept in metrics.json"
