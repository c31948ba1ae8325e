"""Tokens, time, cost and length, passing against failing."""

from __future__ import annotations

import polars as pl

from blade.core.analysis import Usage
from blade.core.rollout import Outcome
from blade.core.run import Run

QUANTITIES = ("input_tokens", "output_tokens", "seconds", "cost", "steps", "calls", "agent_chars")


def usage(run: Run) -> tuple[Usage, ...]:
    """One entry for each quantity that some rollout records."""
    return tuple(_usage(run.rollouts, name) for name in QUANTITIES if _is_recorded(run.rollouts[name], name))


def _is_recorded(values: pl.Series, name: str) -> bool:
    """A cost or a time that is zero everywhere was not measured."""
    return values.count() > 0 and (name not in ("cost", "seconds") or bool((values != 0).any()))


def _usage(rollouts: pl.DataFrame, name: str) -> Usage:
    known = rollouts.select("outcome", pl.col(name).cast(pl.Float64)).drop_nulls(name)
    passed = known.filter(pl.col("outcome") == str(Outcome.PASSED))[name]
    failed = known.filter(pl.col("outcome") == str(Outcome.FAILED))[name]
    return Usage(
        name=name,
        n=known.height,
        total=float(known[name].sum()),
        mean=_number(known[name].mean()) or 0.0,
        median=_number(known[name].median()) or 0.0,
        passed_n=len(passed),
        passed_median=_number(passed.median()),
        failed_n=len(failed),
        failed_median=_number(failed.median()),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
