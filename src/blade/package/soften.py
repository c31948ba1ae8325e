"""Numbers of a sentence made into ranges: an honest report may round or count a little differently."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade.claims.markdown import parse
from blade.claims.names import Number, numbers
from blade.package.ids import NO_NAMES, mentions

_EXACT = 12
"""Counts up to here are small enough to be right or wrong."""
_SPREAD = 0.1
_RATE_SPREAD = 0.02
_PERCENT_SPREAD = 2.0
_LEVELS = (90, 95, 99)
"""Of confidence, not of anything counted."""
_WHOLE = re.compile(r"(?:\bof|\bout\s+of|/|\bx|\u00d7|\bto|-|\u2013)\s*(?:the\s+|its\s+|all\s+)?$", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:to|-|\u2013)\s*\d|-\w", re.IGNORECASE)
_PART = re.compile(r"\s*(?:of|out\s+of|/)\s*(?:the\s+|its\s+|all\s+)?([\d,]+)", re.IGNORECASE)
_DAY = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+$", re.IGNORECASE)
"""A month before a number: a day is as it is."""
_HEDGE = re.compile(r"\b(?:about|around|roughly)\s*$", re.IGNORECASE)


def soften(sentence: str) -> tuple[str, tuple[tuple[float, float], ...]]:
    """The sentence with ranges for its larger numbers, and the range of every number that is a part or a count."""
    found = list(_numbers(sentence))
    made, at, ranges = [], 0, []
    for number in found:
        before = sentence[: number.start]
        if _WHOLE.search(before) or _DAY.search(before) or _JOINED.match(sentence, number.end):
            continue
        low, high = range_of(number, _whole(sentence, number))
        ranges.append((low, high))
        if _shown(low, number) == _shown(high, number):
            continue
        about = "" if _HEDGE.search(sentence[: number.start]) else "about "
        made += [sentence[at : number.start], f"{about}{_shown(low, number)} to {_shown(high, number)}"]
        at = number.end
    return "".join((*made, sentence[at:])), tuple(ranges)


def _numbers(sentence: str) -> Sequence[Number]:
    """The numbers that the audit's parser finds, where the sentence stands as it is written."""
    passages = [one for one in parse(sentence).passages if one.kind == "text"]
    found: list[Number] = []
    for passage in passages:
        names = mentions(passage)
        for one in numbers(passage, NO_NAMES):
            if any(name.start < one.end and one.start < name.end for name in names):
                continue
            line, start = passage.spots[one.start]
            if line == 0 and sentence[start : start + len(one.token)] == one.token:
                found.append(Number(start, start + len(one.token), one.token, one.value, one.decimals, one.percent))
    return found


def _whole(sentence: str, number: Number) -> float | None:
    part = _PART.match(sentence, number.end)
    return float(part.group(1).replace(",", "") or 0) if part and part.group(1).strip(",") else None


def range_of(number: Number, whole: float | None) -> tuple[float, float]:
    """Between which numbers an honest count of the same lies; small counts are as they are."""
    value = number.value
    if number.percent and value in _LEVELS:
        return value, value
    if number.percent:
        return max(0.0, value - _PERCENT_SPREAD), value + _PERCENT_SPREAD
    if number.decimals and 0 <= value <= 1:
        return max(0.0, round(value - _RATE_SPREAD, 3)), min(1.0, round(value + _RATE_SPREAD, 3))
    if abs(value) <= _EXACT or value == whole:
        return value, value
    spread = max(1.0, float(round(abs(value) * _SPREAD)))
    return value - spread, min(value + spread, whole) if whole is not None else value + spread


def _shown(value: float, number: Number) -> str:
    return f"{value:.{number.decimals}f}" if number.decimals else f"{value:,.0f}"
