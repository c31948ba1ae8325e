"""In which way an answer differs from the key: a sign, a unit, a power of ten, an item of a list, only the spelling.

A kind is a fact about two texts. Whether it is why the answer was rejected, the passes of the run tell: where they are exact,
every kind counts; where they differ from the key in the same way, it is harmless.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

import msgspec

from blade.evidence.answer_forms import AnswerMatch, normal, number_of, quantity_of
from blade.evidence.answers import compare
from blade.model.pattern import pattern_of


class Kind(StrEnum):
    EXACT = "exact"
    CASE_OR_SPACE = "case-or-space"
    OTHER_FORM = "other-form"
    """The same value, written in another way."""
    FORMAT = "format"
    """The same items, set apart in another way."""
    SIGN = "sign"
    UNIT = "unit"
    FACTOR = "factor"
    """Off by a power of ten."""
    OFF_BY_ONE = "off-by-one"
    REORDERED = "reordered"
    OFF_BY_ONE_ITEM = "off-by-one-item"
    """One item of a list is another, missing or too many."""
    SUPERSET = "superset"
    SUBSET = "subset"
    SEVERAL = "several"
    UNANSWERABLE = "unanswerable"
    """The key says that there is no answer, and one was given."""
    DIFFERENT = "different"
    CONTAINED = "contained"
    """The key stands inside a longer answer."""
    UNKNOWN = "unknown"
    """Too unlike to be compared as texts: a matter of meaning."""


LONGEST = 20_000
"""Characters that are compared item by item; longer answers are compared as a whole."""
SHORT = 80
"""A longer key that is no list may be answered in other words."""
FEWEST_WORDS = 5
"""Words without commas or brackets are a list from here on; fewer are a name or a phrase."""
ALIKE = 0.5
"""The share of items that two long answers must have in common before they are two tries at the same thing."""
_TEN_TO = frozenset(Fraction(10) ** k for k in range(-12, 13) if k)
_NO_ANSWER = pattern_of(
    r"(?:none|n/?a|unanswerable|unknown|no answer|not answerable|no solution|impossible|undefined|undetermined|null"
    r"|(?:it )?(?:cannot|can ?not|can't) be (?:answered|determined|known|said)|(?:there is )?not enough (?:information|data|context)"
    r"|insufficient (?:information|data|context)|not (?:given|mentioned|stated|specified|provided)(?: in the \w+)?"
    r"|i (?:do not|don't) know)\.?"
)
_DIGITS = pattern_of(r"[0-9]")


@lru_cache(maxsize=4096)
def kind_of(got: str, wanted: str) -> Kind:
    """How an answer compares with the key; both as they are written."""
    mine, key = got.strip(), wanted.strip()
    if mine == key:
        return Kind.EXACT
    if len(mine) <= SHORT and len(key) <= SHORT and _is_whole(mine) and _is_whole(key):
        return _of_whole_numbers(int(mine), int(key))
    if "".join(mine.split()).casefold() == "".join(key.split()).casefold():
        return Kind.CASE_OR_SPACE
    if len(mine) > LONGEST or len(key) > LONGEST:
        return Kind.UNKNOWN
    if says_none(key):
        return Kind.UNKNOWN if says_none(mine) else Kind.UNANSWERABLE
    return _of_numbers(mine, key) or _of_lists(mine, key) or _of_texts(mine, key)


def says_none(text: str) -> bool:
    """Whether a short text says that there is no answer."""
    return len(text) <= SHORT and _NO_ANSWER.fullmatch(normal(text).casefold()) is not None


def _of_numbers(got: str, wanted: str) -> Kind | None:
    """How two numbers with their units compare; None where one of them is none."""
    if len(got) > SHORT or len(wanted) > SHORT or not (_DIGITS.search(got) and _DIGITS.search(wanted)):
        return None
    one, other = quantity_of(normal(got)), quantity_of(normal(wanted))
    if one is None or other is None:
        return None
    mine, key = one[0], other[0]
    if mine == key:
        return Kind.OTHER_FORM if one[1].casefold() == other[1].casefold() else Kind.UNIT
    if mine == -key:
        return Kind.SIGN
    if mine and key and mine / key in _TEN_TO:
        return Kind.FACTOR
    whole = mine.denominator == 1 and key.denominator == 1
    # Of 0 and 1 either is the other's neighbor: they are flags.
    if whole and abs(mine - key) == 1 and max(abs(mine), abs(key)) > 1:
        return Kind.OFF_BY_ONE
    return Kind.DIFFERENT


def _is_whole(text: str) -> bool:
    return text.isdigit() and text.isascii() and (text[0] != "0" or text == "0")


def _of_whole_numbers(mine: int, key: int) -> Kind:
    """The same of digits alone, as most keys are: fractions take ten times as long."""
    if mine == key:
        return Kind.OTHER_FORM
    small, large = sorted((mine, key))
    if small and large % small == 0 and large // small in _TEN_TO:
        return Kind.FACTOR
    return Kind.OFF_BY_ONE if large - small == 1 and large > 1 else Kind.DIFFERENT


def _of_lists(got: str, wanted: str) -> Kind | None:
    """How two lists compare; None where the key is no list, or the answer is something else altogether."""
    key = _items(wanted)
    mine = _items(got) if key is not None else None
    if key is None or mine is None:
        return None
    if mine == key:
        return Kind.OTHER_FORM if got[:1] == wanted[:1] == "[" else Kind.FORMAT
    left, right = Counter(mine), Counter(key)
    added, lacking = (left - right).total(), (right - left).total()
    if not added and not lacking:
        return Kind.REORDERED
    if max(added, lacking) == 1 and len(key) > 1:
        return Kind.OFF_BY_ONE_ITEM
    if not lacking or not added:
        return (Kind.SUBSET if lacking else Kind.SUPERSET) if mine else None
    shared = (left & right).total()
    return Kind.DIFFERENT if shared >= ALIKE * max(len(mine), len(key)) else None


def _items(text: str) -> list[str] | None:
    """The items of a list: in brackets, between commas, signs without a letter one by one, or many words."""
    if text[:1] == "[" and text[-1:] == "]":
        found = _decoded(text)
        return found if found is not None else _parts(text[1:-1].split(",")) if "[" not in text[1:] else None
    if text and not any(letter.isalnum() for letter in text):
        return [letter for letter in text if not letter.isspace()]
    if "," in text and number_of(normal(text)) is None and "\n" not in text:
        parts = _parts(text.split(","))
        if all(len(part.split()) <= 3 for part in parts):
            return parts
    words = text.split()
    return [word.casefold() for word in words] if len(words) >= FEWEST_WORDS else None


def _decoded(text: str) -> list[str] | None:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return _parts([str(item) for item in found]) if isinstance(found, list) else None


def _parts(parts: list[str]) -> list[str]:
    """Items as they are compared: numbers by value, words without case and quotation marks."""
    plain = [normal(part.strip()) if len(part) < SHORT else part.strip() for part in parts]
    return [str(number) if (number := number_of(part)) is not None else part for part in plain if part]


def _of_texts(got: str, wanted: str) -> Kind:
    match = compare(got, wanted)
    if match in (AnswerMatch.EQUAL, AnswerMatch.OTHER_FORM):
        return Kind.OTHER_FORM
    if match is AnswerMatch.SEVERAL:
        return Kind.SEVERAL
    if match is AnswerMatch.CONTAINED:
        return Kind.CONTAINED
    short = len(got) <= SHORT and len(wanted) <= SHORT
    return Kind.DIFFERENT if match is AnswerMatch.DIFFERENT or short else Kind.UNKNOWN
