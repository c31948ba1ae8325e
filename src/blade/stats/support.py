"""How strongly a symptom is tied to failing, by the rules of docs/statistics.md."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.model.diagnosis import Support
from blade.stats.association import Association, Integers, JudgedRollouts, Strata, associate
from blade.stats.rollout_index import Flags, RolloutIndex

SIGNIFICANT = 0.05
RARE = 0.05
"""Share of passing rollouts below which a symptom is still consistent with causing failure."""
ENOUGH_PASSES = 20
ENOUGH_INFORMATIVE = 10
FEWEST = 5
"""Rollouts with a symptom, and without, that a slice needs before its sign counts."""

SMALL = 0.05
"""A risk difference that is ruled out above this is harmless."""
_NOT_SAID = -1


class SymptomCounts(Struct, frozen=True, kw_only=True):
    """A symptom's support with the counts that it rests on."""

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
    """The support of a symptom whose q-value in its family is given; None where it could not be tested."""
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


class Tested(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """Some judged rollouts of a run; symptoms are given as flags of all of its rollouts."""

    rollouts: RolloutIndex
    which: Flags
    wants: Slices
    """What the key of each rollout of the run wants, `_NOT_SAID` where no key says."""

    @cached_property
    def _judged(self) -> JudgedRollouts:
        return JudgedRollouts(task=self.rollouts.task[self.which], failed=self.rollouts.failed[self.which])

    @cached_property
    def _slices(self) -> Slices | None:
        """What their keys want, where all keys say."""
        codes = self.wants.codes[self.which]
        return None if (codes == _NOT_SAID).any() else Slices(names=self.wants.names, codes=codes)

    def among(self, seen: Flags) -> Tested:
        """Those of them that are marked."""
        return Tested(rollouts=self.rollouts, which=self.which & seen, wants=self.wants)

    def strata(self, fired: Flags) -> Strata:
        """A symptom against failing, a table for each task."""
        return self._judged.strata(fired[self.which])

    def observe(self, fired: Flags, strata: Strata) -> SymptomCounts:
        """How a symptom, whose tables are given, goes with failing, before the family of tests is known."""
        return observe(strata, opposite(fired[self.which], self._judged.failed, self._slices))


def tested(rollouts: RolloutIndex) -> Tested:
    """All judged rollouts of a run."""
    keys = rollouts.run.tasks.select("task_id", "key_expects").drop_nulls()
    names = keys["key_expects"].unique().sort().to_list()
    place = {name: code for code, name in enumerate(names)}
    codes = np.full(len(rollouts.names), _NOT_SAID, np.int64)
    if names:
        found = rollouts.names.to_frame("task_id").join(keys, on="task_id", how="left", maintain_order="left")
        codes = found["key_expects"].replace_strict(place, default=_NOT_SAID).to_numpy().astype(np.int64)
    wants = Slices(names=tuple(names), codes=np.repeat(codes, rollouts.lengths))
    return Tested(rollouts=rollouts, which=rollouts.judged, wants=wants)
