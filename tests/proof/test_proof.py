"""What the diagnosis must reach on simulated runs. Where it does not yet, a strict xfail holds the measured figure."""

from __future__ import annotations

from functools import cache

import pytest

from proof.score_diagnosis import calibrate, prove
from proof.simulate.calibration import Calibration
from proof.simulate.generate import Wanted
from proof.simulate.score import Proof
from proof.simulate.text import CAUSES_RIGHT, MOST_SHOWN

pytestmark = pytest.mark.slow


@cache
def proof() -> Proof:
    return prove(range(11, 14), Wanted(tasks=100))


@cache
def calibration() -> Calibration:
    return calibrate(range(11, 23))


def test_no_clean_task_is_accused() -> None:
    assert proof().clean > 500
    assert proof().accused == ()


def test_causes_are_right() -> None:
    assert (proof().tasks.recall or 0.0) >= CAUSES_RIGHT


def test_no_harmless_string_is_blamed() -> None:
    assert proof().blamed == ()


def test_failing_of_the_model_is_told_rightly() -> None:
    assert proof().causes["knowledge"].recall == 1.0
    assert proof().causes["unreliable"].recall == 1.0


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
