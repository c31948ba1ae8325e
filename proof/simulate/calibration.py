"""Whether grades and headroom mean what they say: symptoms whose effect is known against what was said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blade.model.diagnosis import Headroom, Support


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One symptom in one run."""

    code: str
    support: Support
    tested: bool
    gain: float
    """What the score would really gain."""
    headroom: Headroom

    @property
    def inside(self) -> bool | None:
        """Whether the interval holds the true gain; None where there is no interval."""
        limits = self.headroom.interval
        return None if limits is None else limits.low <= self.gain <= limits.high


@dataclass(frozen=True, kw_only=True)
class SupportedSymptoms:
    """One run: its symptoms, and the grades of the habits that could be tested."""

    symptoms: tuple[Estimate, ...]
    habits: tuple[Support, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Share:
    """So many of so many."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.n if self.n else None

    def plus(self, other: Share) -> Share:
        """Both together."""
        return Share(hits=self.hits + other.hits, n=self.n + other.n)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Symptoms without an effect, and with a known one."""

    shown_without_effect: Share
    """Symptoms called shown among those tested, in runs in which none has an effect."""
    habits_without_effect: Share
    """Habits called shown among those tested, there."""
    zero_inside: Share
    """Intervals that hold 0, there."""
    mean_without_effect: float | None
    """Mean estimate, there, as a fraction of the score."""
    shown_with_effect: Share
    gain_inside: Share
    """Intervals that hold the true gain, of symptoms with an effect."""
    mean_with_effect: float | None
    mean_gain: float | None
    """What these symptoms really cost, on average."""


def calibrated(without: Sequence[SupportedSymptoms], with_one: Sequence[SupportedSymptoms]) -> Calibration:
    """Runs without any effect, and runs in which one symptom has one."""
    plain = [one for run in without for one in run.symptoms]
    costly = [one for run in with_one for one in run.symptoms if one.gain > 0]
    habits = [support for run in without for support in run.habits]
    return Calibration(
        shown_without_effect=_shown(plain),
        habits_without_effect=Share(hits=sum(one is Support.SHOWN for one in habits), n=len(habits)),
        zero_inside=_inside(plain),
        mean_without_effect=_mean([one.headroom.estimate for one in plain]),
        shown_with_effect=_shown(costly),
        gain_inside=_inside(costly),
        mean_with_effect=_mean([one.headroom.estimate for one in costly]),
        mean_gain=_mean([one.gain for one in costly]),
    )


def _shown(estimates: Sequence[Estimate]) -> Share:
    tested = [one for one in estimates if one.tested]
    return Share(hits=sum(one.support is Support.SHOWN for one in tested), n=len(tested))


def _inside(estimates: Sequence[Estimate]) -> Share:
    known = [one.inside for one in estimates if one.inside is not None]
    return Share(hits=sum(known), n=len(known))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
