"""What runs are called: the user's word, else model, else folder, else stem; unique and safe as a file name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_SAFE = re.compile(r"[^A-Za-z0-9._-]")
LONGEST_NAME = 100
NAMELESS = "run"
"""The name of a run that nothing names."""


class Called(Struct, frozen=True, kw_only=True):
    """What a run could be called."""

    wanted: str
    tails: tuple[str, ...]
    """What may be added, in this order, where several runs want the same name."""


def unique_names(runs: Sequence[Called]) -> list[str]:
    """A name for each run, in their order; a tail is added only where it tells namesakes apart."""
    names = [safe_name(run.wanted) for run in runs]
    for place in range(max((len(run.tails) for run in runs), default=0)):
        names = [_longer(names, runs, number, place) for number in range(len(runs))]
    return _numbered(names)


def _longer(names: Sequence[str], runs: Sequence[Called], number: int, place: int) -> str:
    name, tail = names[number], runs[number].tails[place]
    namesakes = {runs[other].tails[place] for other, taken in enumerate(names) if taken == name}
    return safe_name(f"{name}-{tail}") if tail and len(namesakes) > 1 else name


def _numbered(names: Sequence[str]) -> list[str]:
    unique: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in unique or (number > 1 and candidate in names):
            number += 1
            candidate = f"{name}-{number}"
        unique.append(candidate)
    return unique


def safe_name(name: str) -> str:
    """Every character outside `[A-Za-z0-9._-]` replaced; never a hidden file, an option or an over-long name."""
    return _SAFE.sub("-", name).strip("-.")[-LONGEST_NAME:].strip("-.") or NAMELESS


def is_nameable(name: str) -> bool:
    """Whether anything is left of a name when it is made safe."""
    return bool(_SAFE.sub("-", name).strip("-."))
