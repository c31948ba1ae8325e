"""What of the input could not be used: equal reasons once, with how often and where first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from blade.model.rollout import Problem, RowSource


class LostInput(Struct, frozen=True, kw_only=True):
    """Places of the input that could not be used for one and the same reason."""

    reason: str
    count: int
    first: RowSource


def grouped(problems: Iterable[Problem]) -> Sequence[LostInput]:
    """Equal reasons together, in the order in which each is first met."""
    places: dict[str, list[RowSource]] = {}
    for problem in problems:
        places.setdefault(problem.reason, []).append(problem.source)
    return [LostInput(reason=reason, count=len(found), first=found[0]) for reason, found in places.items()]
