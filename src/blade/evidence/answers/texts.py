"""Two short texts: an answer and its key, each one value or a list of them."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from blade.evidence.answers.match import Match
from blade.evidence.answers.numbers import as_number_in_words, as_quantity, number_of
from blade.evidence.answers.options import as_option
from blade.evidence.answers.plain import boxed, normal, without_labels
from blade.evidence.answers.words import as_formula, as_same_moment, as_text, as_yes_no
from blade.model.pattern import pattern_of

LONGEST = 200
"""The table cuts stored texts there; what may be cut is not compared."""

_WHOLE = pattern_of(r"[1-9][0-9]{0,15}")
"""A whole number that is written in one way only, as most answers are."""


@lru_cache(maxsize=4096)
def compare(answer: str, key: str) -> Match:
    if not key:
        return Match.UNKNOWN
    if answer == key:
        return Match.EQUAL
    if _WHOLE.fullmatch(answer) and _WHOLE.fullmatch(key):
        return Match.DIFFERENT
    if is_opaque(answer) or is_opaque(key):
        return Match.UNKNOWN
    boxes = boxed(answer)
    if len({value_of(box) for box in boxes}) > 1:
        return Match.SEVERAL
    wanted, said = _items(key), _items(answer)
    if wanted is not None and len(wanted) != 1:
        return _compare_lists(answer, said, wanted)
    if said is not None and len(said) != 1:
        return Match.UNKNOWN
    return _compare_scalars(said[0] if said else boxes[0] if boxes else answer, wanted[0] if wanted else key)


_OPAQUE = pattern_of(
    r"```|<\?|#include|\{\s*[\"']|\[\s*[\[{]"
    r"|(?:def|class|import|from|return|function|module|var|let|const)\s+\w+[\s(:;,=.]"
    r"|(?:select|insert|update|delete|with|create|drop|alter)\s.*\b(?:from|into|set|as|table|view)\b",
    re.IGNORECASE | re.DOTALL,
)


def is_opaque(text: str) -> bool:
    """Long, code, SQL or nested JSON: equal only when identical."""
    return len(text) >= LONGEST or (len(text) > 3 and _OPAQUE.match(text) is not None)


def _compare_scalars(answer: str, key: str) -> Match:
    said, wanted = without_labels(normal(answer), normal(key))
    if not said or not wanted:
        return Match.UNKNOWN
    if said == wanted:
        # "B.", "Option B" and "Answer: B" are how an option is decorated, as "(B)" is.
        decorated = len(wanted) == 1 and wanted.isalpha() and any(mark in answer for mark in ".: ")
        return Match.OTHER_FORM if decorated else Match.EQUAL
    for rule in (as_same_moment, as_option, as_number_in_words, as_quantity, as_yes_no, as_formula):
        verdict = rule(said, wanted)
        if verdict is not None:
            return verdict
    return as_text(said, wanted)


def value_of(text: str) -> Fraction | str:
    plain = normal(text) if len(text) < LONGEST else text
    number = number_of(plain)
    return plain if number is None else number


_ITEM = pattern_of(r"""\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\[\]{}"',]+))\s*(?:,|$)""")
_NAME_ITEM = pattern_of(r"(?!.*[0-9])[^\W_].*[^\W_]")


def _items(text: str) -> list[str] | None:
    """The scalars of a JSON or Python list; None for anything else, a list in a list too."""
    return _split(text[1:-1]) if text[:1] == "[" and text[-1:] == "]" else None


def _split(inner: str) -> list[str] | None:
    found: list[str] = []
    at = 0
    if not inner.strip():
        return found
    while at < len(inner):
        item = _ITEM.match(inner, at)
        if item is None:
            return None
        found.append(next(part for part in item.groups() if part is not None).strip())
        at = item.end()
    return found


def _compare_lists(answer: str, said: list[str] | None, wanted: list[str]) -> Match:
    """A key of several values, or of none."""
    if said is None and "," in answer:
        said = _split(answer)
    if said is None or (len(said) == 1 and answer[:1] != "["):
        return _any_of(answer, wanted)
    left, right = [value_of(item) for item in said], [value_of(item) for item in wanted]
    if left == right:
        return Match.EQUAL if answer[:1] == "[" and _texts(said) == _texts(wanted) else Match.OTHER_FORM
    # Whether order matters, whether one of the values is enough: the verifier knows.
    if set(left) <= set(right) and (left or not right):
        return Match.UNKNOWN
    comparable = all(_is_word(item) for item in (*left, *right))
    return Match.DIFFERENT if comparable else Match.UNKNOWN


def _texts(items: list[str]) -> list[str]:
    return [normal(item) for item in items]


def _is_word(value: Fraction | str) -> bool:
    return isinstance(value, Fraction) or value.replace("_", "").isalnum()


def _any_of(answer: str, alternatives: list[str]) -> Match:
    """Names in a key are ways of saying it; of numbers, letters and ids all may be wanted."""
    if not alternatives or not all(_NAME_ITEM.fullmatch(item) for item in alternatives):
        return Match.UNKNOWN
    verdicts = [_compare_scalars(answer, item) for item in alternatives]
    return next((m for m in (Match.EQUAL, Match.OTHER_FORM, Match.CONTAINED) if m in verdicts), Match.UNKNOWN)
