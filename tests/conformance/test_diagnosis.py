"""On the public reference files: modes partition the failures, and every quote stands where it is said to stand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import blade
from blade.report.as_json import dump
from blade.report.documents import findings
from blade.report.sections import report
from conformance.facts import DATA, FACTS
from evidence import all_evidence, row_at, stands_in

PATHS = sorted({fact.path for fact in FACTS})

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
    ),
]


@pytest.mark.parametrize("path", PATHS)
def test_modes_partition_the_failures_and_quotes_are_word_for_word(path: str) -> None:
    analysis = blade.analyze(DATA / path)
    looked_up = 0
    for one in analysis.runs:
        assert one.diagnosis is not None
        failed = one.run.rollouts.filter(pl.col("outcome") != "passed").select("task_id", "repeat")
        table = one.diagnosis.partition.table
        assert table.select("task_id", "repeat").rows() == failed.rows()
        modes = Counter(table["mode"])
        assert {mode.id: mode.rollouts for mode in one.diagnosis.partition.modes} == dict(modes)
        for evidence in all_evidence(json.loads(dump(findings(one)))):
            file = Path(one.run.roots[evidence["file"]])
            if file.suffix == ".jsonl":
                assert stands_in(evidence, row_at(file, evidence["line"])), evidence
                looked_up += 1
    if path.startswith("tau"):
        assert looked_up > 10


PAGE = (
    (27, {"action-missing", "no-action", "user-withheld", "user-left-early"}),
    (40, {"wrong-argument", "several-action-errors", "wrong-object", "expected-answer-wrong"}),
    (30, {"action-extra"}),
    (12, {"partial-actions"}),
    (5, {"step-limit"}),
    (2, {"statement-missing"}),
)
"""What a page that was written by hand counts in the failures of one run, and the modes that part its lines further."""


def test_the_failures_of_the_model_report_are_counted_as_it_counts_them() -> None:
    one = blade.analyze(DATA / "tau_bench" / "airline__gpt-4o.jsonl").runs[0]
    assert one.diagnosis is not None
    counts = {mode.id: mode.rollouts for mode in one.diagnosis.partition.modes}
    assert [(sum(counts.get(mode, 0) for mode in modes), modes) for _, modes in PAGE] == list(PAGE)
    assert sum(counts.values()) == sum(rollouts for rollouts, _ in PAGE)
    doubts = " ".join(doubt.message for doubt in one.diagnosis.doubts)
    assert "`dob` 1985-04-04" in doubts
    assert "48 of 48 calls" in doubts
    assert "45#1:13" in doubts
    assert [finding.id for finding in one.diagnosis.findings][:2] == [
        "action-extra:cancel_reservation",
        "user-withheld",
    ]
    whole = report(blade.analyze(DATA / "tau_bench" / "airline__gpt-4o.jsonl"))
    assert len(whole.splitlines()) < 400
    page_one = whole.partition("## 2.")[0]
    assert len(page_one.splitlines()) <= 60
