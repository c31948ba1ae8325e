"""How numbers read; the one place that rounds."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from blade.model.measure import Interval, Measure

POINTS = 100


def score(value: float | None) -> str:
    """A fraction to three places, or a dash."""
    return "-" if value is None else f"{value:.3f}"


def share(value: float | None) -> str:
    """A fraction as whole percent; below 1 % with one more digit."""
    if value is None:
        return "-"
    return f"{value:.1%}" if 0 < value < 0.01 or 0.99 < value < 1 else f"{value:.0%}"


def limits(interval: Interval | None, places: int = 2) -> str:
    """`0.32 to 0.53`; a dash when there is none."""
    return "-" if interval is None else f"{interval.low:.{places}f} to {interval.high:.{places}f}"


def points(value: float) -> str:
    """A difference of fractions in points."""
    return f"{value * POINTS:.1f}"


def gain(value: float, in_points: bool) -> str:
    """A difference of scores: in points, or as it is where rewards have a scale of their own."""
    return points(value) if in_points else score(value)


def amount(value: float | None) -> str:
    """A quantity as people write it: 12,345, 3.4, 0.0123."""
    if value is None:
        return "-"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`, `12,000 rollouts`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Names with commas, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def value_or_reason(measure: Measure) -> str:
    """A measure as a score, or why there is none."""
    return score(measure.value) if measure.value is not None else f"none ({measure.reason})"


def adding_up(values: Sequence[float], total: float, places: int) -> list[float]:
    """The values rounded so that they add up to the rounded total, by the largest remainder."""
    unit = 10**places
    floors = [floor(value * unit) for value in values]
    order = sorted(range(len(values)), key=lambda place: (floors[place] - values[place] * unit, place))
    for place in order[: max(0, round(total * unit) - sum(floors))]:
        floors[place] += 1
    return [value / unit for value in floors]
