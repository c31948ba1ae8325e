"""Numbers that were published for a model, beside those of the run: reproduced, not contradicted, or how far off."""

from __future__ import annotations

from collections.abc import Iterator

from blade.model.analysis import RunAnalysis
from blade.model.measure import Interval, Measure
from blade.model.pattern import pattern_of
from blade.model.run import Reported
from blade.report.numbers import limits, plural, points, score
from blade.report.text import safe

_PASS_AT = pattern_of(r"pass@(\d{1,4})")
_MEANS = {"accuracy": "pass_at_1", "pass_at_1": "pass_at_1", "mean_reward": "mean_reward", "reward": "mean_reward"}
PERCENT = 1.0
"""A published share above this is in percent."""
WIDEST = 0.2
"""An interval that is wider holds so many numbers that being inside says little: 10 points to either side."""


def lines(one: RunAnalysis) -> list[str]:
    """A line for each published number; none where none was published."""
    return [f"- {_line(entry, one)}" for entry in one.run.reported]


def _line(entry: Reported, one: RunAnalysis) -> str:
    value = entry.value / 100 if entry.value > PERCENT else entry.value
    said = f"Published: {safe(entry.metric)} {score(value)}" + (f" ({safe(entry.source)})" if entry.source else "")
    measure = _measure(entry.metric, one)
    if measure is None or measure.value is None:
        return f"{said}; this run has no such number."
    here = f"{said}; here {score(measure.value)}"
    if measure.interval is None:
        return f"{here}, without an interval to judge by."
    inside = limits(measure.interval)
    if measure.interval.low <= value <= measure.interval.high:
        doubts = "; ".join(_doubts(measure, measure.interval, one))
        verdict = f"not contradicted (inside {inside}); {doubts}" if doubts else f"reproduced (inside {inside})"
        return f"{here}: {verdict}."
    return f"{here}: not reproduced, {points(measure.value - value)} points off (outside {inside})."


def _doubts(measure: Measure, interval: Interval, one: RunAnalysis) -> Iterator[str]:
    """Why a number that is inside is no reproduction all the same."""
    if interval.high - interval.low > WIDEST:
        yield f"{plural(measure.n, 'task')} leave too much open to call it reproduced"
    coverage = one.metrics.measures.get("coverage")
    if coverage is not None and coverage.value is not None and coverage.value < 1:
        yield "not every rollout has a verdict"


def _measure(metric: str, one: RunAnalysis) -> Measure | None:
    name = metric.strip().casefold().replace(" ", "_")
    known = _MEANS.get(name)
    if known or name == "pass@1":
        return one.metrics.measures.get(known or "pass_at_1")
    found = _PASS_AT.fullmatch(name)
    return one.metrics.pass_at.get(int(found[1])) if found else None
