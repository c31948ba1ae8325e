"""What one rule of the user's own saw in a run."""

from __future__ import annotations

import msgspec

from blade.model.diagnosis import Support
from blade.model.finding import Evidence


class TrialSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The rule in one slice of the tasks: where it fired and how often those rollouts fail, beside the others."""

    field: str
    value: str
    fired: int
    checked: int
    """Judged rollouts of the slice that could be looked at."""
    fired_failed: int
    failed: int


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One rollout in which the rule holds."""

    place: str
    outcome: str
    evidence: Evidence | None


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as a one-off detector: counts, grade, slices, and places to read."""

    run: str
    rule: str
    fired: int
    """Rollouts."""
    tasks: int
    checked: int
    skipped: int
    """Rollouts without what the rule reads."""
    fired_failed: int
    fired_passed: int
    failed: int
    """Judged failures that were looked at."""
    passed: int
    support: Support | None
    """None where the rule reads the verdict, so that a lift would test itself."""
    risk_difference: float | None
    p_value: float | None
    informative: int
    reason: str | None
    """Why there is no lift or no grade."""
    slices: tuple[TrialSlice, ...]
    sightings: tuple[Sighting, ...]
    mixed_in: tuple[str, ...] = ()
    """Slices in which it goes with failing, and with passing."""
    notes: tuple[str, ...] = ()
    """What may be a slip of the pen: tools and fields that no rollout has."""
