"""What findings are made from, and the words of one before its numbers are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from blade.core.diagnosis import Contrast, Elsewhere, Grade, Partition
from blade.core.finding import Evidence
from blade.core.run import Run
from blade.diagnose.reading import Reading
from blade.diagnose.withheld import Withheld
from blade.metrics.headroom import Numbered, numbered

Said = tuple[str, tuple[Evidence, ...]]
"""A sentence, and the evidence that it quotes."""


class Context(Struct, frozen=True, kw_only=True, dict=True):
    """Everything that findings are made from."""

    run: Run
    partition: Partition
    reading: Reading
    contrasts: Mapping[str, Contrast]
    withheld: Sequence[Withheld]
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    unlike: Mapping[str, str] = field(default_factory=dict)
    """Tasks whose repeats were not given the same thing, and how they differ."""

    @cached_property
    def numbered(self) -> Numbered:
        """The rollouts of the run, for the headroom of what is found."""
        return numbered(self.run)


class Draft(Struct, frozen=True, kw_only=True):
    """The words of a finding before its numbers are known."""

    title: str
    what: str
    fix: str
    """Empty where failures are described, and nothing shows that mending it would help."""
    brief: str
    kind: str
    where: tuple[Said, ...] = ()
    """Sentences with places and quotes; examples of the group where there are none."""
    grade: Grade = Grade.DIRECT
    estimable: bool = True
