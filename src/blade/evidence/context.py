"""What findings are made from, and the words of one before its numbers are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct, field

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.reading import Reading
from blade.evidence.refs import Refs
from blade.evidence.withheld import Withheld
from blade.model.diagnosis import Contrast, Elsewhere, Partition, Support
from blade.model.finding import Evidence
from blade.model.run import Run
from blade.stats.rollout_index import Flags, RolloutIndex

VerifierText = tuple[str, tuple[Evidence, ...]]
"""A sentence, and the evidence that it quotes."""


class Context(Struct, frozen=True, kw_only=True, dict=True):
    """Everything that findings are made from."""

    rollouts: RolloutIndex
    """The rollouts of the run, to be counted over."""
    partition: Partition
    reading: Reading
    contrasts: Mapping[str, Contrast]
    withheld: Sequence[Withheld]
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    unlike: Mapping[str, str] = field(default_factory=dict)
    """Tasks whose repeats were not given the same thing, and how they differ."""

    @property
    def run(self) -> Run:
        return self.rollouts.run

    @cached_property
    def was_read(self) -> Flags:
        """Which rollouts of the run were read."""
        return self.rollouts.marked(self.reading.rows)

    @cached_property
    def _walks(self) -> dict[int, AlignedTrajectory]:
        return dict(zip(self.reading.rows.tolist(), self.reading.walks.values(), strict=True))

    def in_mode(self, *modes: str) -> Refs:
        """The failures that have one of the modes."""
        failures = np.flatnonzero(self.rollouts.failed)
        return Refs(of=self.rollouts, rows=failures[self.partition.table["mode"].is_in(modes).to_numpy()])

    def read(self, places: Refs) -> list[AlignedTrajectory]:
        """Those of the places that were read, in their order."""
        return [self._walks[row] for row in places.only(self.was_read).rows.tolist()]

    def passing_repeats(self, places: Refs) -> list[AlignedTrajectory]:
        """Rollouts of the same tasks that were read and pass."""
        tasks = places.within(self.reading.tasks).tasks
        return [walk for task in tasks for walk in self.reading.of(task) if walk.passed]


class FindingDraft(Struct, frozen=True, kw_only=True):
    """The words of a finding before its numbers are known."""

    title: str
    what: str
    fix: str
    """Empty where failures are described, and nothing shows that mending it would help."""
    brief: str
    kind: str
    where: tuple[VerifierText, ...] = ()
    """Sentences with places and quotes; examples of the group where there are none."""
    support: Support = Support.DIRECT
    estimable: bool = True
