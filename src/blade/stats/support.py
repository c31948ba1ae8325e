"""How strongly a symptom is tied to failing, by the rules of docs/statistics.md."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.model.diagnosis import Support
from blade.stats.association import Association, Flags, Integers, Strata, associate

SIGNIFICANT = 0.05
RARE = 0.05
"""Share of passing rollouts below which a symptom is still consistent with causing failure."""
ENOUGH_PASSES = 20
ENOUGH_INFORMATIVE = 10
FEWEST = 5
"""Rollouts with a symptom, and without, that a slice needs before its sign counts."""

SMALL = 0.05
"""A risk difference that is ruled out above this is harmless."""


class SymptomCounts(Struct, frozen=True, kw_only=True):
    """A symptom's grade with the counts that it rests on."""

    support: Support
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
    codes: Integers


def slices_of(values: npt.ArrayLike) -> Slices:
    """The slices of rollouts, given by name."""
    names, codes = np.unique(np.asarray(values), return_inverse=True)
    return Slices(names=tuple(map(str, names)), codes=codes)


def observe(strata: Strata, mixed_in: tuple[str, ...] = ()) -> SymptomCounts:
    """The association of a symptom over judged rollouts, before the family of tests is known."""
    both, fired, failed = (int(counts.sum()) for counts in (strata.both, strata.fired, strata.failed))
    return SymptomCounts(
        support=Support.UNCLEAR,
        association=associate(strata),
        fired_failed=both,
        fired_passed=fired - both,
        failed=failed,
        passed=int(strata.total.sum()) - failed,
        mixed_in=mixed_in,
    )


def support(seen: SymptomCounts, q: float | None) -> Support:
    """The grade of a symptom whose q-value in its family is given; None where it could not be tested."""
    found = seen.association
    if seen.mixed_in:
        return Support.MIXED
    if q is not None and q <= SIGNIFICANT and (found.risk_difference or 0.0) > 0:
        return Support.SHOWN
    high = found.interval.high if found.interval is not None else None
    if found.informative >= ENOUGH_INFORMATIVE:
        return Support.HARMLESS if high is not None and high < SMALL else Support.UNCLEAR
    rare = seen.fired_passed < RARE * seen.passed if seen.passed >= ENOUGH_PASSES else seen.fired_passed == 0
    against = (found.risk_difference or 0.0) < 0
    return Support.CONSISTENT if rare and seen.fired_failed > 0 and not against else Support.UNCLEAR


def opposite(hits: Flags, losses: Flags, slices: Slices | None) -> tuple[str, ...]:
    """Two slices in which the symptom goes clearly with failing and clearly with passing; empty when there are none."""
    if slices is None:
        return ()

    ended, most = slices.codes * 2 + losses, 2 * len(slices.names)
    fired, all_ = np.bincount(ended[hits], minlength=most), np.bincount(ended, minlength=most)
    worse: list[str] = []
    better: list[str] = []
    for name, here, there in zip(slices.names, fired.reshape(-1, 2), (all_ - fired).reshape(-1, 2), strict=True):
        with_, without, lost, lost_without = map(int, (here.sum(), there.sum(), here[1], there[1]))
        if with_ < FEWEST or without < FEWEST:
            continue
        gap = lost / with_ - lost_without / without
        error = _error(lost, with_) + _error(lost_without, without)
        if abs(gap) > 1.96 * error**0.5 and abs(gap) > SMALL:
            (worse if gap > 0 else better).append(name)
    return (worse[0], better[0]) if worse and better else ()


def _error(lost: int, n: int) -> float:
    """Variance of a share, never quite zero: a small sample that agrees is not certain."""
    share = (lost + 1) / (n + 2)
    return share * (1 - share) / n
