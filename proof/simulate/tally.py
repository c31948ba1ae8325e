"""How often something was planted, said rightly, and said where it is not so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How often something was planted, said rightly, and said where it is not so."""

    planted: int = 0
    right: int = 0
    wrong: int = 0

    @property
    def recall(self) -> float | None:
        """Share of the planted that was seen; None where nothing was planted."""
        return self.right / self.planted if self.planted else None

    @property
    def precision(self) -> float | None:
        """Share of what was said that is so; None where nothing was said."""
        said = self.right + self.wrong
        return self.right / said if said else None

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(
            planted=self.planted + other.planted, right=self.right + other.right, wrong=self.wrong + other.wrong
        )


def summed(tallies: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    """Tallies by name, added up."""
    found: dict[str, Tally] = {}
    for one in tallies:
        for name, tally in one.items():
            found[name] = found.get(name, Tally()).plus(tally)
    return {name: found[name] for name in sorted(found)}
