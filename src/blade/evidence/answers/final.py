"""What the final text states, where no answer was extracted."""

from __future__ import annotations

import re

from blade.evidence.answers.match import Match
from blade.evidence.answers.numbers import quantity_of
from blade.evidence.answers.options import letters_of
from blade.evidence.answers.plain import boxed, normal
from blade.evidence.answers.texts import LONGEST, compare, is_opaque, value_of
from blade.evidence.answers.words import NEGATION
from blade.model.pattern import pattern_of

TAIL = 2000
"""An answer is stated at the end; nothing before these last characters is read."""
NEAR_END = 300
"""A statement that more text than this follows is a step, not the answer."""
LEAD = 100
"""How far before a statement it may be negated."""

_STATED = pattern_of(r"(?:answer|\bfinal [a-z]{3,20})(?:\s+is\b|[\s*_]*:)[\s:*_]*", re.IGNORECASE)
_AT_END = pattern_of(r"\*\*([^*\n]{1,200})\*\*[.\s]*\Z|<(\w{1,20})>([^<>]{1,300})</\2>\s*\Z")
_SENTENCE_END = pattern_of(r"\.\s+(?=[A-Z])|\n")
_CONDITION = pattern_of(r"\b(?:if|whether|unless|suppose|maybe|perhaps|might)\b")
_RETRACTED = pattern_of(r"\b(?:wait|actually|however|correction|mistake)\b", re.IGNORECASE)


def compare_final(final_text: str, key: str) -> Match:
    text = final_text[-TAIL:].rpartition("</think>")[2].strip()
    if not text:
        return Match.NONE
    if key and final_text.strip() == key:
        return Match.NOT_EXTRACTED
    if not key or is_opaque(key):
        return Match.UNKNOWN
    boxes = boxed(text)
    if boxes:
        return _as_stated(
            compare(boxes[-1].strip(), key) if len({value_of(box) for box in boxes}) == 1 else Match.SEVERAL
        )
    stated = _stated(text)
    if stated:
        return _as_stated(compare(stated, key))
    return _compare_last_line(text, key)


def _as_stated(verdict: Match) -> Match:
    return Match.NOT_EXTRACTED if verdict in (Match.EQUAL, Match.OTHER_FORM) else verdict


def _stated(text: str) -> str | None:
    """What the text calls its answer, or sets off at its end, unless it doubts or takes it back."""
    if found := _AT_END.search(text, max(0, len(text) - NEAR_END - LONGEST)):
        return None if _is_doubted(text[: found.start()]) else (found[1] or found[3]).strip()
    tail = text[-NEAR_END - LONGEST :]
    statements = list(_STATED.finditer(tail))
    if not statements or _is_doubted(tail[: statements[-1].start()]):
        return None
    rest = tail[statements[-1].end() :]
    stated = _SENTENCE_END.split(rest, maxsplit=1)[0].strip()
    after = rest[len(stated) :]
    return None if len(after) > NEAR_END or _RETRACTED.search(after) else stated


def _is_doubted(before: str) -> bool:
    """Whether the sentence that leads to a statement negates it or makes it a condition."""
    sentence = before[-LEAD:].rpartition("\n")[2].rpartition(". ")[2].lower()
    return bool(NEGATION.search(sentence) or _CONDITION.search(sentence))


def _compare_last_line(text: str, key: str) -> Match:
    """The last line was not called the answer: what it says instead of a name may be anything, a number may not."""
    line = text.rpartition("\n")[2].strip()
    verdict = _as_stated(compare(line, key))
    if verdict is Match.UNKNOWN:
        return Match.NONE
    if verdict is Match.DIFFERENT and line != text:
        plain = normal(key)
        return verdict if letters_of(plain) or quantity_of(plain) else Match.NONE
    return verdict
