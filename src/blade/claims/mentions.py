"""What in a passage is a claim at all: its numbers, its quotations, its redactions; names, dates and ordinals are none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from blade.claims.markdown import Passage
from blade.claims.names import Names

_NUMBER = re.compile(
    r"(?<![\w@#^.,$€£])(?<![\w]-)(?:[-+\u2212](?=\d))?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w@#^]|\.\d|,\d{3}(?!\d))(\s?%)?"
)
_NOT_NUMBERS = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+Z?)?|\b\d{1,2}:\d{2}(?::\d{2})?\b|\bpass[@^]\d+|https?://\S+"
    r"|\b(?:sections?|lines?|findings?|steps?|repeat|rollout|attempt|figure|tables?|page|seed|version|top|k|step|item)\s?[-=#]?\s?\d+(?:\s*(?:-|to|and|,)\s*\d+)*\b(?!\s*(?:%|of|\.\d))"
    r"|\bv?\d+\.\d+\.\d+\b|\(\d\)(?=\s)|\b[0-9a-f]{8,}\b|\b\d{1,3}-\d?-?(?:bit|shot|way|step)\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r'(?<![\w"{}\]:,.])"(?=\S)([^\n]{1,600}?)(?<=\S)"(?=[.;!?)\]\s]|,(?!")|:\s|$)|\u201c([^\u201d\n]{2,600})\u201d'
)
"""A quotation opens before a word and closes after one; marks inside JSON do neither."""
_REDACTED = re.compile(r"\[redacted:\s*([^\]\n]{1,80})\]", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number as a report writes it."""

    start: int
    end: int
    token: str
    value: float
    decimals: int
    percent: bool


@dataclass(frozen=True)
class Quote:
    """Words between quotation marks, or between backticks when they are long enough to be quoted words."""

    start: int
    end: int
    words: str


def redactions(passage: Passage) -> list[tuple[int, int]]:
    """Ranges that somebody blacked out."""
    return [found.span() for found in _REDACTED.finditer(passage.text)]


def quotes(passage: Passage) -> list[Quote]:
    """Everything that claims to be somebody's words; names of tools and fields are not."""
    found = [_quoted(passage.text, one) for one in _QUOTE.finditer(_without_code(passage))]
    for start, end in passage.code:
        words = passage.text[start:end]
        if (" " in words.strip() or len(words) > 24 or words[:1] in '{["') and not _inside((start, end), found):
            found = [one for one in found if not (start <= one.start and one.end <= end)]
            found.append(Quote(start, end, words))
    return sorted(found, key=lambda one: one.start)


def _quoted(text: str, found: re.Match[str]) -> Quote:
    group = 1 if found.group(1) is not None else 2
    return Quote(*found.span(), text[found.start(group) : found.end(group)])


def _without_code(passage: Passage) -> str:
    """The text with the quotation marks of code made into other characters."""
    parts, at = [], 0
    for start, end in sorted(passage.code):
        parts += [passage.text[at:start], passage.text[start:end].replace('"', "\0")]
        at = end
    return "".join((*parts, passage.text[at:]))


def _inside(span: tuple[int, int], quotes: list[Quote]) -> bool:
    return any(one.start <= span[0] and span[1] <= one.end for one in quotes)


def numbers(passage: Passage, names: Names) -> list[Number]:
    """The numbers that state something, in order."""
    taken = list(_taken(passage, names))
    return [
        _number(found)
        for found in _NUMBER.finditer(passage.text)
        if not any(start < found.end() and found.start() < end for start, end in taken)
    ]


def _number(found: re.Match[str]) -> Number:
    token = found.group().rstrip("% ").rstrip()
    bare = token.replace(",", "").replace("\u2212", "-")
    _, _, after = bare.partition(".")
    return Number(found.start(), found.start() + len(token), token, float(bare), len(after), bool(found.group(1)))


def _taken(passage: Passage, names: Names) -> Iterator[tuple[int, int]]:
    """Ranges whose digits are part of a name, a place, a date, a quotation or code."""
    text = passage.text
    yield from passage.code
    yield from redactions(passage)
    for quote in quotes(passage):
        yield quote.start, quote.end
    for named in (*names.runs_in(text), *names.tasks_in(text)):
        yield named.start, named.end
    for place in names.places_in(text):
        yield place.start, place.end
    for found in _NOT_NUMBERS.finditer(text):
        yield found.span()
