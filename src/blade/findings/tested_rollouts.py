"""The judged rollouts over which symptoms are tested, one after the other."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct

from blade.stats.association import Judged, Strata
from blade.stats.rollout_index import Flags, RolloutIndex
from blade.stats.support import Slices, SymptomCounts, observe, opposite

_NOT_SAID = -1


class Tested(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """Some judged rollouts of a run; symptoms are given as flags of all of its rollouts."""

    rollouts: RolloutIndex
    which: Flags
    wants: Slices
    """What the key of each rollout of the run wants, `_NOT_SAID` where no key says."""

    @cached_property
    def _judged(self) -> Judged:
        return Judged(task=self.rollouts.task[self.which], failed=self.rollouts.failed[self.which])

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
