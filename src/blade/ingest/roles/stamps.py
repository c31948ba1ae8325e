"""Times: which fields are stamps, which two of them bound a phase, and which numbers are durations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from msgspec import Struct

from blade.ingest.roles.paths import Sample
from blade.ingest.times import stamp
from blade.model.roles import PhaseStamps

_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?")
FIRST_EPOCH, LAST_EPOCH = 1e9, 4e9
"""Seconds from 2001 to 2096; counts and identifiers are seldom in between and never in order."""
UNITS = (1.0, 1e3, 1e6, 1e9)
"""Seconds, milliseconds, microseconds, nanoseconds."""
LONGEST_ROLLOUT = 7 * 86_400.0
"""Whole numbers that lie closer together in every row are two stamps of it; two identifiers hardly do."""
LEAST_ORDERED = 0.98
"""Clocks of two machines may differ in a few rows."""
SAME = 0.05
"""Seconds by which a recorded duration may differ from its two stamps."""
NO_GAP = 0.1
"""A part of the whole time: two phases that follow each other leave less between them than what lies around both."""

AROUND_AND_BETWEEN = 5
"""Stamps of a rollout of which the last one ends the grading, too: start, agent from and to, grading from, end."""
SHORT = 0.25
"""Of the shortest phase, the most that may lie between two phases."""


class Times(Struct, frozen=True, kw_only=True):
    """Stamps, durations that equal the difference of two of them, and the phases that they bound."""

    stamps: tuple[str, ...] = ()
    phases: tuple[PhaseStamps, ...] = ()
    durations: tuple[tuple[str, str, str], ...] = ()
    """Path, and the two stamps whose difference it is."""
    undecided: tuple[str, ...] = ()


def seconds_of(value: object) -> float | None:
    """A stamp as seconds since 1970: an ISO date and time, or an epoch number in one of `UNITS`."""
    if isinstance(value, str):
        if not _ISO.match(value):
            return None
        found: datetime | None = stamp(value)
        return found.timestamp() if found is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < LAST_EPOCH * UNITS[-1]:
        return None
    return next((value / unit for unit in UNITS if FIRST_EPOCH <= value / unit <= LAST_EPOCH), None)


def read_times(sample: Sample, without: tuple[str, ...] = ()) -> Times:
    """What the stamps of the rows bound, those that begin with one of some paths left out."""
    paths = [path for path in sample.scalars if not (without and path.startswith(without))]
    found = {path: [seconds_of(value) for value in sample.columns[path]] for path in paths}
    stamps = {
        path: values
        for path, values in found.items()
        if all((value is None) == (raw is None) for value, raw in zip(values, sample.columns[path], strict=True))
        and any(value is not None for value in values)
        and (len(set(values)) > 1 or len(sample) == 1)
    }
    stamps = {path: values for path, values in stamps.items() if _is_stamp(sample, path) or _has_twin(path, stamps)}
    phases, undecided = _phases(stamps)
    return Times(
        stamps=tuple(stamps), phases=phases, durations=tuple(_durations(sample, stamps, phases)), undecided=undecided
    )


Stamps = dict[str, list[float | None]]


def _is_stamp(sample: Sample, path: str) -> bool:
    """Texts are, and fractions; a whole number may as well be an identifier."""
    return all(isinstance(value, str | float) for value in sample.of(path))


def _has_twin(path: str, stamps: Stamps) -> bool:
    """Whether another field lies within one rollout's time of this one in every row, in the same order, and not always equal."""
    for other in stamps:
        gaps = [b - a for a, b in zip(stamps[path], stamps[other], strict=True) if a is not None and b is not None]
        near = bool(gaps) and (
            0 <= min(gaps) <= max(gaps) <= LONGEST_ROLLOUT or -LONGEST_ROLLOUT <= min(gaps) <= max(gaps) <= 0
        )
        if other != path and near and any(gaps):
            return True
    return False


def _phases(stamps: Stamps) -> tuple[tuple[PhaseStamps, ...], tuple[str, ...]]:
    """Pairs in one object bound a phase each; of others in order, the outermost two bound the whole and the rest in pairs."""
    by_parent: dict[str, list[str]] = {}
    for path in stamps:
        by_parent.setdefault(path.rpartition(".")[0], []).append(path)
    pairs = [
        tuple(_in_order(stamps, paths))
        for parent, paths in by_parent.items()
        if len(paths) == 2 and _ordered(stamps, *_in_order(stamps, paths))
    ]
    inner = [(one, two) for one, two in pairs if len(pairs) > 1]
    inside = {path for pair in inner for path in pair}
    flat = _in_order(stamps, (path for path in stamps if path not in inside))
    if not inner:
        if len(flat) < 2:
            return (), ()
        chain = _chain(stamps, flat)
        if chain is None:
            return (), (f"what the stamps {', '.join(flat[:4])} bound is not told by their order",) if flat else ()
        return _named(stamps, *chain), ()
    whole = [pair for pair in inner if all(_around(stamps, pair, other) for other in inner if other != pair)]
    return _named(stamps, whole[0] if whole else None, [pair for pair in inner if pair not in whole]), ()


def _between(stamps: Stamps, one: str, two: str) -> float:
    """Seconds from one stamp to another, on average of the rows that have both: some stamps stand in few rows."""
    gaps = [b - a for a, b in zip(stamps[one], stamps[two], strict=True) if a is not None and b is not None]
    return sum(gaps) / len(gaps) if gaps else 0.0


def _in_order(stamps: Stamps, paths: Iterable[str]) -> list[str]:
    """Some stamps, the one first that most others come after."""
    mine = list(paths)
    return sorted(mine, key=lambda path: sum(_between(stamps, other, path) > 0 for other in mine))


def _ordered(stamps: Stamps, one: str, two: str) -> bool:
    both = [(a, b) for a, b in zip(stamps[one], stamps[two], strict=True) if a is not None and b is not None]
    return bool(both) and sum(a <= b for a, b in both) >= LEAST_ORDERED * len(both)


def _around(stamps: Stamps, outer: tuple[str, str], inner: tuple[str, str]) -> bool:
    return _ordered(stamps, outer[0], inner[0]) and _ordered(stamps, inner[1], outer[1])


Pair = tuple[str, str]


def _chain(stamps: Stamps, flat: Sequence[str]) -> tuple[Pair | None, list[Pair]] | None:
    """The whole and its phases from stamps in one order; None where they have none."""
    if len(flat) < 2 or not all(_ordered(stamps, one, two) for one, two in pairwise(flat)):
        return None
    if len(flat) == AROUND_AND_BETWEEN and (phases := _but_the_gap(stamps, flat)):
        return (flat[0], flat[-1]), phases
    if len(flat) == 2 or len(flat) % 2:
        return (flat[0], flat[-1]), []
    middle = list(flat[1:-1])
    around = [(one, two) for one, two in zip(middle[::2], middle[1::2], strict=True)]
    whole = _between(stamps, flat[0], flat[-1])
    between = sum(_between(stamps, one, two) for one, two in zip(flat[1::2], flat[2::2], strict=False))
    if len(flat) == 4 and whole > 0 and between < NO_GAP * whole:
        return None, [(flat[0], flat[1]), (flat[2], flat[3])]
    return (flat[0], flat[-1]), around


def _but_the_gap(stamps: Stamps, flat: Sequence[str]) -> list[Pair]:
    """Setup, agent and grading, where hardly any time lies between two of the inner stamps; empty where some does."""
    parts = [(one, two) for one, two in pairwise(flat)]
    long = {pair: _between(stamps, *pair) for pair in parts}
    gap, *rest = sorted(parts, key=lambda pair: long[pair])
    return [pair for pair in parts if pair != gap] if gap in parts[1:-1] and long[gap] < SHORT * long[rest[0]] else []


def _named(stamps: Stamps, whole: Pair | None, inner: Sequence[Pair]) -> tuple[PhaseStamps, ...]:
    """Phases by their order: the last is grading, the one before it the agent's, and what comes first is setup."""
    places = _in_order(stamps, (path for pair in inner for path in pair))
    ordered = sorted(inner, key=lambda pair: (places.index(pair[0]), places.index(pair[1])))
    names = ["setup"] * max(0, len(ordered) - 2) + (
        ["agent", "grading"] if len(ordered) > 1 else ["agent"] * len(ordered)
    )
    found = [PhaseStamps(name=name, start=a, end=b) for name, (a, b) in zip(names, ordered, strict=True)]
    if whole is not None:
        if ordered and "setup" not in names:
            found.insert(0, PhaseStamps(name="setup", start=whole[0], end=ordered[0][0]))
        found.append(PhaseStamps(name="total", start=whole[0], end=whole[1]))
    elif ordered and len(ordered) > 1:
        found.append(PhaseStamps(name="total", start=ordered[0][0], end=ordered[-1][1]))
    return tuple(found)


def _durations(sample: Sample, stamps: Stamps, phases: Sequence[PhaseStamps]) -> list[tuple[str, str, str]]:
    """Numbers that equal the difference of two stamps in all rows that have the three."""
    numbers = [
        path
        for path in sample.scalars
        if path not in stamps and all(type(value) is float or type(value) is int for value in sample.of(path))
    ]
    found = []
    pairs = [(one.start, one.end) for one in sorted(phases, key=lambda one: one.name != "total")]
    pairs += [(one, two) for one in stamps for two in stamps if one != two]
    for path in numbers:
        column = sample.columns[path]
        pair = next(((one, two) for one, two in pairs if _equals(column, stamps[one], stamps[two])), None)
        if pair is not None:
            found.append((path, *pair))
    return found


def _equals(numbers: Sequence[Any], starts: Sequence[float | None], ends: Sequence[float | None]) -> bool:
    rows = [
        (n, a, b)
        for n, a, b in zip(numbers, starts, ends, strict=True)
        if n is not None and a is not None and b is not None
    ]
    return len(rows) > 1 and len({n for n, _, _ in rows}) > 1 and all(abs(b - a - n) <= SAME for n, a, b in rows)
