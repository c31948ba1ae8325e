"""How strongly a symptom is tied to failing, by the rules of docs/statistics.md."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.core.diagnosis import Grade
from blade.metrics.association import Association, within_tasks

SIGNIFICANT = 0.05
RARE = 0.05
"""Share of passing rollouts below which a symptom is still consistent with causing failure."""
ENOUGH_PASSES = 20
ENOUGH_INFORMATIVE = 10
FEWEST = 5
"""Rollouts with a symptom, and without, that a slice needs before its sign counts."""

Flags = npt.NDArray[np.bool_]
SMALL = 0.05
"""A risk difference that is ruled out above this is harmless."""


class Graded(Struct, frozen=True, kw_only=True):
    """A symptom's grade with the counts that it rests on."""

    grade: Grade
    association: Association
    fired_failed: int
    fired_passed: int
    failed: int
    passed: int
    mixed_in: tuple[str, ...] = ()
    """Slices in which the sign differs."""


class Slices(Struct, frozen=True, kw_only=True, eq=False):
    """The slice of each rollout, as a place among the names."""

    names: tuple[str, ...]
    codes: npt.NDArray[np.int64]


def slices_of(values: npt.ArrayLike) -> Slices:
    """The slices of rollouts, given by name."""
    names, codes = np.unique(np.asarray(values), return_inverse=True)
    return Slices(names=tuple(map(str, names)), codes=codes)


def observe(tasks: npt.ArrayLike, fired: npt.ArrayLike, failed: npt.ArrayLike, slices: Slices | None = None) -> Graded:
    """The association of a symptom over judged rollouts, before the family of tests is known."""
    hits, losses = np.asarray(fired, dtype=bool), np.asarray(failed, dtype=bool)
    return Graded(
        grade=Grade.NOT_SETTLED,
        association=within_tasks(tasks, hits, losses),
        fired_failed=int((hits & losses).sum()),
        fired_passed=int((hits & ~losses).sum()),
        failed=int(losses.sum()),
        passed=int((~losses).sum()),
        mixed_in=_opposite(hits, losses, slices),
    )


def grade(seen: Graded, q: float | None) -> Grade:
    """The grade of a symptom whose q-value in its family is given; None where it could not be tested."""
    found = seen.association
    if seen.mixed_in:
        return Grade.MIXED
    if q is not None and q <= SIGNIFICANT and (found.risk_difference or 0.0) > 0:
        return Grade.SHOWN
    high = found.interval.high if found.interval is not None else None
    if found.informative >= ENOUGH_INFORMATIVE:
        return Grade.HARMLESS if high is not None and high < SMALL else Grade.NOT_SETTLED
    rare = seen.fired_passed < RARE * seen.passed if seen.passed >= ENOUGH_PASSES else seen.fired_passed == 0
    against = (found.risk_difference or 0.0) < 0
    return Grade.CONSISTENT if rare and seen.fired_failed > 0 and not against else Grade.NOT_SETTLED


def _opposite(hits: Flags, losses: Flags, slices: Slices | None) -> tuple[str, ...]:
    """Two slices in which the symptom goes clearly with failing and clearly with passing; empty when there are none."""
    if slices is None:
        return ()
    names, codes = slices.names, slices.codes
    worse: list[str] = []
    better: list[str] = []
    for code, name in enumerate(names):
        here = codes == code
        with_, without = hits & here, ~hits & here
        if with_.sum() < FEWEST or without.sum() < FEWEST:
            continue
        gap = float(losses[with_].mean() - losses[without].mean())
        error = _error(losses[with_]) + _error(losses[without])
        if abs(gap) > 1.96 * error**0.5 and abs(gap) > SMALL:
            (worse if gap > 0 else better).append(str(name))
    return (worse[0], better[0]) if worse and better else ()


def _error(values: npt.NDArray[np.bool_]) -> float:
    """Variance of a share, never quite zero: a small sample that agrees is not certain."""
    n = len(values)
    share = (float(values.sum()) + 1) / (n + 2)
    return share * (1 - share) / n
