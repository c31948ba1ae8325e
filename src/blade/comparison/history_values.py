"""Analyses of one benchmark over time."""

from __future__ import annotations

from dataclasses import dataclass

from blade.comparison.values import Change
from blade.model.analysis import HeadlineScore


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One analysis, and what changed since the one before."""

    source: str
    """The folder, as it was given."""
    run: str
    headline: str
    score: HeadlineScore
    """All expected rollouts."""
    since: Change | None
    """None for the first."""
    new_modes: tuple[str, ...] = ()
    gone_modes: tuple[str, ...] = ()
