"""What rules over rollouts saw: how many they could look at, and whose words are quoted first."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from msgspec.structs import replace

import blade
from blade.findings.diagnose import diagnose
from blade.model.diagnosis import RuleStatistics
from blade.model.run import Run
from builders import rollout, write_jsonl

WORDS = "the service is down for good"


def four(folder: Path) -> Run:
    """A task whose first and third repeat pass."""
    rows = [rollout("t", repeat=repeat, passed=not repeat % 2, output=WORDS) for repeat in range(4)]
    return blade.load_run(write_jsonl(folder / "rollouts.jsonl", rows))


def seen(run: Run, name: str, values: list[object]) -> dict[str, RuleStatistics]:
    """What rules see where a column of the table says otherwise."""
    column = pl.Series(name, values, dtype=run.rollouts.schema[name])
    return {one.code: one for one in diagnose(replace(run, rollouts=run.rollouts.with_columns(column))).rule_statistics}


def test_rollouts_at_which_a_rule_could_not_look_are_not_counted(tmp_path: Path) -> None:
    found = seen(four(tmp_path), "cannot_check", [["BEH001"], ["BEH001", "ANS003"], None, ["ANS003", "BEH001"]])
    counts = {
        code: (found[code].checked, found[code].skipped, found[code].failed, found[code].passed) for code in found
    }
    assert counts["BEH001"] == (1, 3, 0, 1)
    assert counts["ANS003"] == (2, 2, 0, 2)
    assert counts["BEH004"] == (4, 0, 2, 2)


def test_failing_rollouts_are_quoted_before_passing_ones(tmp_path: Path) -> None:
    run = four(tmp_path)
    hit = {"code": "BEH001", "step": 0, "field": "text", "start": 0, "length": len(WORDS)}
    found = seen(run, "fired", [[hit, hit], [hit], None, [hit]])["BEH001"]
    assert (found.fired, found.fired_failed, found.fired_passed, found.tasks) == (3, 2, 1, 1)
    assert [str(one.key) for one in found.evidence] == ["t#1", "t#3", "t#0"]
    assert {one.quote for one in found.evidence} == {WORDS}
