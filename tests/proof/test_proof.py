"""What the diagnosis must reach on simulated runs, whatever their fields are called."""

from __future__ import annotations

from functools import cache

import pytest

from proof.score_diagnosis import calibrate, prove
from proof.simulate.calibration import Calibration
from proof.simulate.generate import Wanted
from proof.simulate.names import NamesKind
from proof.simulate.score import Proof, together
from proof.simulate.text import CAUSES_RIGHT, MOST_SHOWN

pytestmark = pytest.mark.slow

SEEDS = range(11, 14)


@cache
def documented() -> Proof:
    """The worlds that name rules, under the names that known verifiers use."""
    return together(
        prove(SEEDS, Wanted(world=world, tasks=100, names="documented")) for world in ("single", "tools", "code")
    )


@cache
def drawn() -> Proof:
    """All worlds under names drawn at random."""
    return prove(SEEDS, Wanted(tasks=100))


def proof(names: NamesKind) -> Proof:
    return documented() if names == "documented" else drawn()


@cache
def calibration() -> Calibration:
    return calibrate(range(11, 23))


@pytest.mark.parametrize("names", ["documented", "random"])
def test_no_clean_task_is_accused(names: NamesKind) -> None:
    assert proof(names).clean > 500
    assert proof(names).accused == ()


@pytest.mark.parametrize("names", ["documented", "random"])
def test_causes_are_right(names: NamesKind) -> None:
    assert (proof(names).tasks.recall or 0.0) >= CAUSES_RIGHT


@pytest.mark.parametrize("names", ["documented", "random"])
def test_no_harmless_string_is_blamed(names: NamesKind) -> None:
    assert proof(names).blamed == ()


@pytest.mark.parametrize("names", ["documented", "random"])
def test_failing_of_the_model_is_told_rightly(names: NamesKind) -> None:
    assert proof(names).causes["knowledge"].recall == 1.0
    assert proof(names).causes["unreliable"].recall == 1.0


def test_attributions_accuse_nobody_and_are_never_proven_and_wrong() -> None:
    found = drawn().agreement
    assert found.missing_tables == ()
    assert found.accused == found.proven_wrong == found.passes_with_a_mode == ()


def test_symptoms_without_an_effect_are_rarely_called_shown() -> None:
    seen = calibration().shown_without_effect
    assert seen.n >= 60
    assert (seen.value or 0.0) <= MOST_SHOWN
    assert (calibration().habits_without_effect.value or 0.0) <= MOST_SHOWN


def test_headroom_is_right_within_its_interval() -> None:
    found = calibration()
    assert abs(found.mean_without_effect or 0.0) < 0.01
    assert (found.zero_inside.value or 0.0) >= 0.9
    assert (found.gain_inside.value or 0.0) >= 0.75
    assert abs((found.mean_with_effect or 0.0) - (found.mean_gain or 0.0)) < 0.02
