"""A number with its denominator, or the reason why there is none."""

from __future__ import annotations

import msgspec


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a value, with the method that made them and the number of units it rests on."""

    low: float
    high: float
    level: float
    method: str
    n: int
    rough: bool = False
    """Fewer than 30 units: the limits are an indication."""


class Bounded(msgspec.Struct, frozen=True, kw_only=True):
    """What may have limits."""

    interval: Interval | None = None

    @property
    def ci(self) -> tuple[float, float] | None:
        """The limits alone; None where there are none."""
        return (self.interval.low, self.interval.high) if self.interval is not None else None


class Measure(Bounded, frozen=True, kw_only=True):
    """A named value over `n` units; `value` is None exactly when `reason` says why."""

    name: str
    value: float | None
    n: int
    method: str = ""
    reason: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError(f"{self.name}: a measure has a value or a reason, never both or neither")
