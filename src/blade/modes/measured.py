"""How often each failure mode is right on data whose failures are known, and how many of them it finds.

The figures are in `measured.json`, which `python -m proof.measure_modes` writes.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

NOT_MEASURED = "not measured"


class ModeFigures(Struct, frozen=True, kw_only=True):
    """Rollouts of one mode in one data set."""

    n: int
    """That truly have the mode."""
    right: int
    """Of those, so many were given it."""
    wrong: int
    """Rollouts that were given it and have another."""

    @property
    def said(self) -> int:
        return self.right + self.wrong


class MeasuredSet(Struct, frozen=True, kw_only=True):
    """One data set with known failures."""

    name: str
    short: str
    """In two words."""
    what: str
    """In words, to stand after `on`."""
    seen: bool
    """The modes were written with these labels at hand, so that the figures flatter them."""
    modes: dict[str, ModeFigures]


class Measured(Struct, frozen=True, kw_only=True):
    """The whole file."""

    sets: tuple[MeasuredSet, ...]


@cache
def measured() -> Measured:
    """The figures that come with this version."""
    return msgspec.json.decode((files("blade.modes") / "measured.json").read_bytes(), type=Measured)


def in_words(code: str) -> str:
    """`precision 0.96 (54 of 56), recall 0.44 (54 of 128) on planted faults`, for each data set; or that there is none."""
    told = [
        f"{_rate('precision', one.right, one.said)}, {_rate('recall', one.right, one.n)} on {each.what}"
        for each in measured().sets
        if (one := each.modes.get(code)) is not None
    ]
    return "; ".join(told) or NOT_MEASURED


def in_short(code: str) -> str:
    """`54 of 56 planted faults`: how often the mode is right where it is given, for each kind of data."""
    found: dict[str, list[ModeFigures]] = {}
    for each in measured().sets:
        if (one := each.modes.get(code)) is not None and one.said:
            found.setdefault(each.short, []).append(one)
    told = [
        f"{sum(one.right for one in figures):,} of {sum(one.said for one in figures):,} {short}"
        for short, figures in found.items()
    ]
    return ", ".join(told) or NOT_MEASURED


def _rate(name: str, hits: int, of: int) -> str:
    return f"{name} {hits / of:.2f} ({hits:,} of {of:,})" if of else f"{name} not known (0 cases)"
