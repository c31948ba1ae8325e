"""Scoring: tallies worked out by hand, and small worlds that go through the pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from blade.model.diagnosis import Headroom, Support
from blade.model.finding import Cause
from blade.model.measure import Interval
from proof.score_diagnosis import analyzed, scored, write_files
from proof.simulate.calibration import Estimate, Share, SupportedSymptoms, calibrated
from proof.simulate.generate import Made, Wanted, generate
from proof.simulate.score import Proof, together
from proof.simulate.tally import Tally


def proved(folder: Path, *names: str, tasks: int = 20) -> Proof:
    proofs = []
    for made in generate(Wanted(tasks=tasks, plant=names)):
        write_files(made.files, folder / made.world)
        proofs.append(scored(made, folder / made.world))
    return together(proofs)


def test_precision_and_recall_need_something_to_divide_by() -> None:
    assert (Tally().precision, Tally().recall) == (None, None)
    seen = Tally(planted=4, right=3, wrong=1)
    assert (seen.precision, seen.recall) == (0.75, 0.75)
    assert Tally(planted=2, right=1).plus(seen) == Tally(planted=6, right=4, wrong=1)


def test_a_fault_that_is_seen_counts_for_its_cause_and_its_rule(tmp_path: Path) -> None:
    proof = proved(tmp_path, "never-committed")
    assert proof.causes["behavior"].recall == 1.0
    assert proof.rules["ANS005"].recall == 1.0
    assert not proof.misses
    assert proof.accused == ()


def test_a_fault_that_is_taken_for_another_counts_against_both(tmp_path: Path) -> None:
    (made,) = generate(Wanted(world="single", tasks=20, plant=("never-committed",)))
    write_files(made.files, tmp_path / made.world)
    proof = scored(told_otherwise(made, Cause.BEHAVIOR, Cause.DATA), tmp_path / made.world)
    missed = len(proof.misses)
    assert missed > 0
    assert proof.causes["data"] == Tally(planted=missed)
    assert proof.causes["behavior"] == Tally(wrong=missed)
    assert {(miss.truth, miss.said) for miss in proof.misses} == {("data", "behavior")}


def told_otherwise(made: Made, was: Cause, now: Cause) -> Made:
    """The same rows with another truth."""
    runs = {
        name: replace(
            run, tasks={t: replace(one, cause=now) if one.cause is was else one for t, one in run.tasks.items()}
        )
        for name, run in made.truth.runs.items()
    }
    return replace(made, truth=replace(made.truth, runs=runs))


def test_rows_that_do_not_belong_together_are_found_by_their_index(tmp_path: Path) -> None:
    proof = proved(tmp_path, "another-issue")
    assert proof.rules["DAT001"].right > 0
    assert proof.rules["DAT001"].wrong == 0


def test_a_clean_world_accuses_nobody(tmp_path: Path) -> None:
    (made,) = generate(Wanted(world="tools", tasks=30, clean=True))
    write_files(made.files, tmp_path)
    proof = scored(made, tmp_path)
    assert proof.clean == 30
    assert proof.accused == ()
    assert proof.tasks.recall == 1.0
    assert all(tally == Tally() for tally in proof.rules.values())


def test_the_simulated_folder_reads_without_a_problem(tmp_path: Path) -> None:
    (made,) = generate(Wanted(world="single", tasks=20))
    write_files(made.files, tmp_path)
    assert [one.run.problems for one in analyzed(tmp_path).runs] == [(), ()]


@pytest.mark.parametrize(("gain", "inside"), [(0.0, True), (0.2, False)])
def test_an_interval_holds_the_truth_or_does_not(gain: float, inside: bool) -> None:
    limits = Interval(low=-0.1, high=0.1, level=0.95, method="t", n=40, rough=False)
    room = Headroom(estimate=0.01, interval=limits, only_defect=0.0, ceiling=0.0, unreached_tasks=0)
    one = Estimate(code="BEH001", support=Support.SHOWN, tested=True, gain=gain, headroom=room)
    assert one.inside is inside
    run = SupportedSymptoms(symptoms=(one,), habits=(Support.SHOWN, Support.HARMLESS))
    found = calibrated([run], [run])
    assert found.habits_without_effect == Share(hits=1, n=2)
    assert found.shown_without_effect == Share(hits=1, n=1)
    assert found.mean_without_effect == 0.01
    assert found.gain_inside.n == (1 if gain else 0)
