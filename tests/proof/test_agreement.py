"""Scoring attributions: tables worked out from the truth itself, and tables with known mistakes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl

from proof.score_diagnosis import analyzed, attributions, write_files
from proof.simulate.agreement import Said, agreement, joined
from proof.simulate.generate import Made, Wanted, generate
from proof.simulate.modes import PARTY
from proof.simulate.text import attributions as text_of
from proof.simulate.truth import RolloutTruth

Told = dict[str, dict[tuple[int, int], Said]]


@cache
def made() -> Made:
    return generate(Wanted(world="terminal", tasks=70))[0]


def told(one: Made, mode: str | None = None, confidence: str = "proven") -> Told:
    """For each run what is true, or one mode for every failure."""
    return {
        name: {(run.tasks[row.task].index, row.repeat): said(row, mode, confidence) for row in run.rollouts}
        for name, run in one.truth.runs.items()
    }


def said(row: RolloutTruth, mode: str | None, confidence: str) -> Said:
    if row.mode is None:
        return Said(mode=None, party="unknown", confidence=None, also=("pass-to-doubt",) if row.doubtful else ())
    named = mode or row.mode
    party = PARTY[mode] if mode is not None else row.party or ""
    return Said(mode=named, party=party, confidence=confidence)


def test_the_truth_agrees_with_itself() -> None:
    found = agreement(made().truth, told(made()))
    assert found.rollouts > 200
    assert (found.group, found.mode, found.party) == (found.rollouts,) * 3
    assert (found.accused, found.proven_wrong, found.passes_with_a_mode) == ((), (), ())
    nobody_can_say = sum(one.mode == "unattributed" for run in made().truth.runs.values() for one in run.rollouts)
    assert found.unattributed == nobody_can_say > 0
    assert found.proven == found.rollouts
    assert (found.infra.precision, found.infra.recall) == (1.0, 1.0)
    assert found.doubtful.planted > 0
    assert (found.doubtful.precision, found.doubtful.recall) == (1.0, 1.0)
    assert found.confused == {}
    assert {tally.recall for tally in found.by_mode.values()} == {1.0}


def test_blaming_the_machinery_for_everything_is_accusing_and_wrong() -> None:
    found = agreement(made().truth, told(made(), "agent-crashed"))
    assert found.by_mode["agent-crashed"].recall == 1.0
    assert (found.by_mode["agent-crashed"].precision or 1.0) < 0.5
    assert len(found.accused) > 10
    assert len(found.proven_wrong) == found.rollouts - found.mode
    assert found.infra.recall == 1.0
    assert (found.infra.precision or 1.0) < 0.6


def test_a_mere_suspicion_accuses_nobody() -> None:
    found = agreement(made().truth, told(made(), "agent-crashed", "suspected"))
    assert found.accused == ()
    assert (found.proven, found.infra.right, found.infra.wrong) == (0, 0, 0)


def test_what_nothing_is_said_of_is_no_agreement() -> None:
    empty: Told = {name: {} for name in made().truth.runs}
    found = agreement(made().truth, empty)
    assert (found.mode, found.group, found.unattributed) == (0, 0, found.rollouts)
    assert found.missing_tables == ()


def test_unattributed_is_right_where_the_rows_do_not_settle_it() -> None:
    name, run = next(iter(made().truth.runs.items()))
    open_ended = replace(run, rollouts=tuple(replace(one, settled=False) for one in run.rollouts))
    truth = replace(made().truth, runs={name: open_ended})
    found = agreement(truth, told(made(), "unattributed"))
    assert found.mode == found.group == found.party == found.rollouts == found.unattributed


def test_another_mode_that_an_expert_could_name_is_right_and_a_pass_needs_none() -> None:
    name, run = next(iter(made().truth.runs.items()))
    hung = next(one for one in run.rollouts if one.mode == "grader-hung")
    passed = next(one for one in run.rollouts if one.mode is None)
    truth = replace(made().truth, runs={name: replace(run, rollouts=(hung, passed))})
    index = {task: one.index for task, one in run.tasks.items()}
    table = {
        (index[hung.task], hung.repeat): Said(mode="no-verdict", party="verifier", confidence="likely"),
        (index[passed.task], passed.repeat): Said(mode="loop", party="agent", confidence="suspected"),
    }
    found = agreement(truth, {name: table})
    assert (found.mode, found.rollouts, found.passes, len(found.passes_with_a_mode)) == (1, 1, 1, 1)


def test_a_run_without_a_table_is_said_to_have_none() -> None:
    found = agreement(made().truth, dict.fromkeys(made().truth.runs))
    assert len(found.missing_tables) == 2
    assert text_of(found) == "Not measured: 2 run(s) have no table of attributions."
    both = joined([found, agreement(made().truth, told(made()))])
    assert "2 run(s) have no table of attributions; the figures are of the others." in text_of(both)
    assert "| clean tasks accused | 0 of " in text_of(both)


def test_a_written_table_is_read_by_task_and_repeat(tmp_path: Path) -> None:
    (one,) = generate(Wanted(world="code", tasks=12))
    write_files(one.files, tmp_path / "rows")
    (run,) = [found.run for found in analyzed(tmp_path / "rows").runs]
    assert attributions(run, tmp_path / "attributions.parquet") is None
    ids = dict(run.tasks.select("index", "task_id").iter_rows())
    table = told(one)[run.name]
    pl.DataFrame(
        [
            {"task_id": ids[index], "repeat": repeat, "mode": s.mode, "party": s.party, "confidence": s.confidence}
            for (index, repeat), s in table.items()
        ]
    ).write_parquet(tmp_path / "attributions.parquet")
    read = attributions(run, tmp_path / "attributions.parquet")
    assert read == {place: replace(s, also=()) for place, s in table.items()}
