"""Numbers of a report with what they count and of how many; whether two of them say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from blade.claims.markdown import Passage
from blade.claims.names import Number, numbers, quotes
from blade.claims.patterns import WORDS
from blade.package.judge.words import COMMON, NO_NAMES, Mention, axis, spoken, stem

_OF = re.compile(r"\s*(?:of|out\s+of|/)\s+(?:(?:the|its|all|a\s+total\s+of|those)\s+)*", re.IGNORECASE)
_OUTER = re.compile(r"(?:^|[.;,(]\s*)\bof\s+(?:(?:the|its|all|these|those)\s+)*$", re.IGNORECASE)
"""`Of the 28 failures, 9 ...`: a whole that stands before its parts."""
_TO = re.compile(r"\s*(?:-|\u2013|to|and)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from)\s+$", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\babout|\baround|\broughly|~|\bapproximately|\bnearly|\balmost|\bclose\s+to)\s*$", re.IGNORECASE
)
_MORE = re.compile(r"\b(?:more|higher|greater)\s+than\s+$|\b(?:over|above|at\s+least)\s+$", re.IGNORECASE)
_LESS = re.compile(r"\b(?:fewer|less|lower)\s+than\s+$|\b(?:under|below|at\s+most|up\s+to)\s+$", re.IGNORECASE)
_SPELLED = re.compile(rf"\b(?:{'|'.join((*WORDS, 'both', 'half'))})\b(?=\s+\w)", re.IGNORECASE)
_REACH = 48
_WIDE = 1.6
"""A range whose ends are further apart says too little."""


class Amount(Struct, frozen=True, kw_only=True):
    """A number, or a range, with what it counts."""

    start: int
    low: float
    high: float
    of: float | None = None
    """The whole that it is a part of."""
    unit: frozenset[str] = frozenset()
    """Stems of the words that say what is counted."""
    outcome: int = 0
    """1 where passes are counted, -1 for failures."""
    percent: bool = False
    decimals: int = 0
    relation: str = "="

    @property
    def share(self) -> float | None:
        """The part of the whole, between 0 and 1, where it is known."""
        if self.of:
            return self.low / self.of
        if self.percent:
            return self.low / 100
        return self.low if self.decimals and 0 <= self.low <= 1 else None


def amounts(passage: Passage, names: Sequence[Mention], start: int, end: int) -> list[Amount]:
    """The numbers of a clause, each with its whole and what it counts."""
    taken = [(one.start, one.end) for one in names]
    taken += [(one.start, one.end) for one in quotes(passage)] + list(passage.code)
    found = [one for one in (*numbers(passage, NO_NAMES), *_words(passage.text)) if start <= one.start < end]
    mine = sorted((one for one in found if not _inside(one, taken)), key=lambda one: one.start)
    return list(_read(passage.text, _whole_words(mine, passage.text), end))


def _inside(number: Number, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < number.end and number.start < end for start, end in taken)


def _words(text: str) -> Iterator[Number]:
    """Numbers that are written as words."""
    for found in _SPELLED.finditer(text):
        word = found.group().lower()
        if word in WORDS:
            yield Number(*found.span(), found.group(), float(WORDS.index(word)), 0, False)
        elif word == "both":
            yield Number(*found.span(), found.group(), 2.0, 0, False)


def _whole_words(mine: Sequence[Number], text: str) -> list[Number]:
    """Without `one` where it counts nothing: `the one pass`, `one that the key has`."""
    return [
        one
        for one in mine
        if one.token.lower() != "one" or re.match(r"\s+(?:of|in|rollout|task|time|attempt|repeat)\b", text[one.end :])
    ]


def _read(text: str, mine: Sequence[Number], end: int) -> Iterator[Amount]:
    at, outer, ended = 0, None, 0
    while at < len(mine):
        first, low, high = mine[at], mine[at].value, mine[at].value
        last = first
        if at + 1 < len(mine) and _joins(text, first, mine[at + 1]):
            at, last = at + 1, mine[at + 1]
            low, high = min(low, last.value), max(high, last.value)
        whole = None
        if at + 1 < len(mine) and _OF.fullmatch(text[last.end : mine[at + 1].start]):
            at, whole = at + 1, mine[at + 1]
        of = outer if whole is None else whole.value
        found = _amount(text, first, whole or last, (low, high), of if of is None or of >= high else None, end)
        # `Sparrow fails on 40 of 95, Heron on 28 of 96`: the verb stands once.
        found = replace(found, outcome=ended) if found.of is not None and not found.outcome else found
        ended = found.outcome or ended
        yield found
        outer = low if whole is None and _OUTER.search(text[: first.start]) else outer
        at += 1


def _joins(text: str, first: Number, second: Number) -> bool:
    """Whether two numbers are the ends of a range."""
    between = text[first.end : second.start]
    if not _TO.fullmatch(between) or (first.percent and not second.percent):
        return False
    return "and" not in between.lower() or _BETWEEN.search(text[: first.start]) is not None


def _amount(text: str, first: Number, last: Number, ends: tuple[float, float], whole: float | None, end: int) -> Amount:
    before, after = text[max(0, first.start - _REACH) : first.start], text[last.end : min(end, last.end + _REACH)]
    relation = "~" if _ABOUT.search(before) else ">" if _MORE.search(before) else "<" if _LESS.search(before) else "="
    words = spoken(re.split(r"[;:.(\d]", after)[0])[:4]
    behind = spoken(re.split(r"[;:.)\d]", before)[-1])[-3:]
    return Amount(
        start=first.start,
        low=ends[0],
        high=ends[1],
        of=whole,
        unit=_units(words) or _units(behind),
        outcome=_outcome([*behind, *words]),
        percent=first.percent or last.percent,
        decimals=first.decimals,
        relation=relation,
    )


def _units(words: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in COMMON)


def _outcome(words: Iterable[str]) -> int:
    signs = {found[1] for word in words if (found := axis(word)) is not None and found[0] == "outcome"}
    return signs.pop() if len(signs) == 1 else 0


def same_value(said: Amount, right: Amount) -> bool:
    """Whether two amounts agree, however each is written: as a count, a share, rounded, about, or as a range."""
    if (said.low, said.high, said.of) == (right.low, right.high, right.of) and said.outcome == right.outcome:
        return True
    if _count_agrees(said, right):
        return True
    shares = said.share, right.share
    if shares[0] is None or shares[1] is None or (said.of and right.of and said.of == right.of):
        return mirrored(said, right)
    digits = min(_digits(said), _digits(right))
    return abs(shares[0] - shares[1]) <= 0.5001 * 10.0**-digits + (
        0.03 if "~" in (said.relation, right.relation) else 0
    )


def _digits(amount: Amount) -> int:
    if amount.of:
        return 6
    return amount.decimals + (2 if amount.percent else 0)


def mirrored(said: Amount, right: Amount) -> bool:
    """`passes 1 of 4` and `fails 3 of 4`: the same, told from the other side."""
    return said.of is not None and said.of == right.of and _complement(said, right)


def _complement(said: Amount, right: Amount) -> bool:
    return said.outcome * right.outcome < 0 and said.low == (right.of or 0) - right.low


def _count_agrees(said: Amount, right: Amount) -> bool:
    if said.of is not None and right.of is not None and said.of != right.of:
        return False
    if said.of is not None and said.of == right.of and said.outcome * right.outcome < 0:
        return False
    if said.percent != right.percent and not (said.of or right.of):
        return False
    if said.high > said.low and said.high > max(_WIDE * said.low, said.low + 4):
        return False
    return _near(said, right)


def _near(said: Amount, right: Amount) -> bool:
    low, high = right.low, right.high
    slack = 0.1 * abs(high) if said.relation == "~" else 0.0
    slack += 0.5001 * 10.0**-said.decimals if said.decimals < right.decimals else 0.0
    if said.relation == ">":
        return 0.5 * low <= said.low <= high
    if said.relation == "<":
        return low <= said.high <= 2 * high
    return said.low <= high + slack and said.high >= low - slack


def comparable(said: Amount, right: Amount) -> bool:
    """Whether two amounts count the same kind of thing."""
    if said.of is not None and right.of is not None:
        return said.of == right.of or bool(said.unit & right.unit)
    return bool(said.unit & right.unit)
