"""Numbers of a row that part passes from failures: what the verifier may have looked at where it does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from msgspec import Struct

from blade.evidence.alignment import AlignedTrajectory
from blade.ingest.fields import ACCOUNTS, BY_NAME, ID_NAMES

FEWEST = 5
"""Rollouts of each side that must have the number: of fewer, one in a hundred is parted by chance."""
_KNOWN = frozenset((*ID_NAMES, *(path for field in BY_NAME.values() for path in field.paths)))
_POSITION = ("_index", "_id", "_at")


class Deciding(Struct, frozen=True, kw_only=True):
    """A number that is above a limit in every pass that was read and below it in every failure, or the reverse."""

    field: str
    passing: tuple[float, float]
    """Least and most of the passes."""
    failing: tuple[float, float]
    passes: int
    failures: int


def deciding(passing: Sequence[AlignedTrajectory], failing: Sequence[AlignedTrajectory]) -> Deciding | None:
    """The first field by name that parts the two sides, and is neither reward nor verdict; None where none does."""
    if len(passing) < FEWEST or len(failing) < FEWEST:
        return None
    won, lost = ([dict(_numbers(walk)) for walk in side] for side in (passing, failing))
    shared = set.intersection(*(set(one) for one in (*won, *lost)))
    rewards = [walk.rollout.reward for walk in (*passing, *failing)]
    for field in sorted(shared):
        if [one[field] for one in (*won, *lost)] == rewards:
            continue
        mine, theirs = [one[field] for one in won], [one[field] for one in lost]
        if (min(mine) > max(theirs) or max(mine) < min(theirs)) and not _repeats_the_verdict(mine, theirs):
            return Deciding(
                field=field,
                passing=(min(mine), max(mine)),
                failing=(min(theirs), max(theirs)),
                passes=len(mine),
                failures=len(theirs),
            )
    return None


def _repeats_the_verdict(passing: Sequence[float], failing: Sequence[float]) -> bool:
    """Whether there is but one value on each side: then it is the verdict, and nothing was measured."""
    return len(set(passing)) == 1 and len(set(failing)) == 1


def _numbers(walk: AlignedTrajectory) -> Iterator[tuple[str, float]]:
    """The numbers of a row and of the verifier's accounts in it that no field of ours reads."""
    row = walk.rollout.row
    holders: list[tuple[str, Mapping[str, object]]] = [("", row)]
    holders += [(f"{name}.", value) for name in ACCOUNTS if isinstance(value := row.get(name), dict)]
    for holder, values in holders:
        for name, value in values.items():
            path = f"{holder}{name}"
            if _is_measure(value) and not is_known(path, name):
                yield path, value


def _is_measure(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_known(path: str, name: str) -> bool:
    """Whether a field is read by its name, or counts rows."""
    return path in _KNOWN or "." in name or name.startswith("_ng_") or name.endswith(_POSITION)
