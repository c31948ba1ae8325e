"""Tokens, time, cost and length, passing against failing."""

from __future__ import annotations

import polars as pl

from blade.model.analysis import UsageSummary
from blade.model.rollout import Outcome
from blade.model.run import Run

QUANTITIES = ("input_tokens", "output_tokens", "seconds", "cost", "steps", "calls", "agent_chars")


def usage(run: Run) -> tuple[UsageSummary, ...]:
    """One entry for each quantity that some rollout records."""
    outcomes = run.rollouts["outcome"]
    passed, failed = outcomes == str(Outcome.PASSED), outcomes == str(Outcome.FAILED)
    recorded = (run.rollouts[name] for name in QUANTITIES)
    return tuple(_usage(values, passed, failed) for values in recorded if _is_recorded(values))


def _is_recorded(values: pl.Series) -> bool:
    """A cost or a time that is zero everywhere was not measured."""
    return values.count() > 0 and (values.name not in ("cost", "seconds") or bool((values != 0).any()))


def _usage(values: pl.Series, passed: pl.Series, failed: pl.Series) -> UsageSummary:
    """Of a quantity, given with which rollouts passed and which failed."""
    every = values.cast(pl.Float64)
    known, won, lost = every.drop_nulls(), every.filter(passed).drop_nulls(), every.filter(failed).drop_nulls()
    return UsageSummary(
        name=values.name,
        n=len(known),
        total=float(known.sum()),
        mean=_number(known.mean()) or 0.0,
        median=_number(known.median()) or 0.0,
        passed_n=len(won),
        passed_median=_number(won.median()),
        failed_n=len(lost),
        failed_median=_number(lost.median()),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
