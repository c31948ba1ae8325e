r"""Is the answer the one in the key? Compared as text and as exact numbers, without a model.

EQUAL, OTHER_FORM and NOT_EXTRACTED are claims: two readers would agree. Whatever takes knowledge of the task (order in a list,
units, rounding, synonyms, equivalent formulas) is UNKNOWN or CONTAINED, never a claim.

Work is bounded: texts of LONGEST characters or more are only tested for identity, and of the final text only the tail is read.
"""

from __future__ import annotations

import re
from collections import deque
from fractions import Fraction
from functools import lru_cache

from blade.evidence.answer_forms import (
    NEGATION,
    AnswerMatch,
    as_formula,
    as_number_in_words,
    as_option,
    as_quantity,
    as_same_moment,
    as_text,
    as_yes_no,
    boxed,
    letters_of,
    normal,
    number_of,
    quantity_of,
    without_labels,
)
from blade.evidence.presence import may_hold
from blade.model.pattern import pattern_of

_NOTHING = frozenset({"", "none", "null", "nan", "n/a"})


def compare_answer(answer: str | None, expected: str, final_text: str) -> AnswerMatch:
    """Compare the extracted answer with the key; where nothing was extracted, what the final text states."""
    key = expected.strip()
    if answer is None or _is_nothing(answer, key):
        return compare_final(final_text, key)
    return compare(answer.strip(), key)


def _is_nothing(answer: str, key: str) -> bool:
    """Verifiers write "None" for an answer that they did not find."""
    if len(answer) >= LONGEST:
        return not answer.strip()
    said = answer.strip().lower()
    return said in _NOTHING and said != key.lower()


LONGEST = 200
"""The table cuts stored texts there; what may be cut is not compared."""

_WHOLE = pattern_of(r"[1-9][0-9]{0,15}")
"""A whole number that is written in one way only, as most answers are."""


@lru_cache(maxsize=4096)
def compare(answer: str, key: str) -> AnswerMatch:
    if not key:
        return AnswerMatch.UNKNOWN
    if answer == key:
        return AnswerMatch.EQUAL
    if _WHOLE.fullmatch(answer) and _WHOLE.fullmatch(key):
        return AnswerMatch.DIFFERENT
    if is_opaque(answer) or is_opaque(key):
        return AnswerMatch.UNKNOWN
    boxes = boxed(answer)
    if len({value_of(box) for box in boxes}) > 1:
        return AnswerMatch.SEVERAL
    wanted, said = _items(key), _items(answer)
    if wanted is not None and len(wanted) != 1:
        return _compare_lists(answer, said, wanted)
    if said is not None and len(said) != 1:
        return AnswerMatch.UNKNOWN
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


def _compare_scalars(answer: str, key: str) -> AnswerMatch:
    said, wanted = without_labels(normal(answer), normal(key))
    if not said or not wanted:
        return AnswerMatch.UNKNOWN
    if said == wanted:
        # "B.", "Option B" and "Answer: B" are how an option is decorated, as "(B)" is.
        decorated = len(wanted) == 1 and wanted.isalpha() and any(mark in answer for mark in ".: ")
        return AnswerMatch.OTHER_FORM if decorated else AnswerMatch.EQUAL
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


def _compare_lists(answer: str, said: list[str] | None, wanted: list[str]) -> AnswerMatch:
    """A key of several values, or of none."""
    if said is None and "," in answer:
        said = _split(answer)
    if said is None or (len(said) == 1 and answer[:1] != "["):
        return _any_of(answer, wanted)
    left, right = [value_of(item) for item in said], [value_of(item) for item in wanted]
    if left == right:
        return AnswerMatch.EQUAL if answer[:1] == "[" and _texts(said) == _texts(wanted) else AnswerMatch.OTHER_FORM
    # Whether order matters, whether one of the values is enough: the verifier knows.
    if set(left) <= set(right) and (left or not right):
        return AnswerMatch.UNKNOWN
    comparable = all(_is_word(item) for item in (*left, *right))
    return AnswerMatch.DIFFERENT if comparable else AnswerMatch.UNKNOWN


def _texts(items: list[str]) -> list[str]:
    return [normal(item) for item in items]


def _is_word(value: Fraction | str) -> bool:
    return isinstance(value, Fraction) or value.replace("_", "").isalnum()


def _any_of(answer: str, alternatives: list[str]) -> AnswerMatch:
    """Names in a key are ways of saying it; of numbers, letters and ids all may be wanted."""
    if not alternatives or not all(_NAME_ITEM.fullmatch(item) for item in alternatives):
        return AnswerMatch.UNKNOWN
    verdicts = [_compare_scalars(answer, item) for item in alternatives]
    return next(
        (m for m in (AnswerMatch.EQUAL, AnswerMatch.OTHER_FORM, AnswerMatch.CONTAINED) if m in verdicts),
        AnswerMatch.UNKNOWN,
    )


TAIL = 2000
"""An answer is stated at the end; nothing before these last characters is read."""
NEAR_END = 300
"""A statement that more text than this follows is a step, not the answer."""
LEAD = 100
"""How far before a statement it may be negated."""

_STATED = pattern_of(r"(?:answer|\bfinal [a-z]{3,20})(?:\s+is\b|[\s*_]*:)[\s:*_]*", re.IGNORECASE)
_STATING = ("answer", "final ")
"""The words that a statement begins with, in small letters."""
_AT_END = pattern_of(r"\*\*([^*\n]{1,200})\*\*[.\s]*\Z|<(\w{1,20})>([^<>]{1,300})</\2>\s*\Z")
_SENTENCE_END = pattern_of(r"\.\s+(?=[A-Z])|\n")
_CONDITION = pattern_of(r"\b(?:if|whether|unless|suppose|maybe|perhaps|might)\b")
_may_doubt = may_hold(f"{NEGATION.pattern}|{_CONDITION.pattern}")
_RETRACTED = pattern_of(r"\b(?:wait|actually|however|correction|mistake)\b", re.IGNORECASE)


def compare_final(final_text: str, key: str) -> AnswerMatch:
    text = final_text[-TAIL:].rpartition("</think>")[2].strip()
    if not text:
        return AnswerMatch.NONE
    if key and final_text.strip() == key:
        return AnswerMatch.NOT_EXTRACTED
    if not key or is_opaque(key):
        return AnswerMatch.UNKNOWN
    boxes = boxed(text)
    if boxes:
        return _as_stated(
            compare(boxes[-1].strip(), key) if len({value_of(box) for box in boxes}) == 1 else AnswerMatch.SEVERAL
        )
    said = stated(text)
    if said:
        return _as_stated(compare(said, key))
    return _compare_last_line(text, key)


def _as_stated(verdict: AnswerMatch) -> AnswerMatch:
    return AnswerMatch.NOT_EXTRACTED if verdict in (AnswerMatch.EQUAL, AnswerMatch.OTHER_FORM) else verdict


def stated(text: str) -> str | None:
    """What the text calls its answer, or sets off at its end, unless it doubts or takes it back."""
    tail = text[-NEAR_END - LONGEST :]
    set_off = ("**" in tail or tail.rstrip().endswith(">")) and _AT_END.search(text, len(text) - len(tail))
    if set_off:
        return None if _is_doubted(text[: set_off.start()]) else (set_off[1] or set_off[3]).strip()
    statement = _last_statement(tail)
    if statement is None or _is_doubted(tail[: statement.start()]):
        return None
    rest = tail[statement.end() :]
    said = _SENTENCE_END.split(rest, maxsplit=1)[0].strip()
    after = rest[len(said) :]
    return None if len(after) > NEAR_END or _RETRACTED.search(after) else said


def _last_statement(tail: str) -> re.Match[str] | None:
    """Where the text last speaks of its answer; it is not looked for before the first of the words."""
    folded = tail.lower() if tail.isascii() else tail.casefold()
    places = [place for word in _STATING if (place := folded.find(word)) != -1]
    if not places:
        return None
    statements = deque(_STATED.finditer(tail, min(places) if tail.isascii() else 0), maxlen=1)
    return statements[0] if statements else None


def _is_doubted(before: str) -> bool:
    """Whether the sentence that leads to a statement negates it or makes it a condition."""
    sentence = before[-LEAD:].rpartition("\n")[2].rpartition(". ")[2].lower()
    if sentence.isascii() and not _may_doubt(sentence):
        return False
    return bool(NEGATION.search(sentence) or _CONDITION.search(sentence))


def _compare_last_line(text: str, key: str) -> AnswerMatch:
    """The last line was not called the answer: what it says instead of a name may be anything, a number may not."""
    line = text.rpartition("\n")[2].strip()
    verdict = _as_stated(compare(line, key))
    if verdict is AnswerMatch.UNKNOWN:
        return AnswerMatch.NONE
    if verdict is AnswerMatch.DIFFERENT and line != text:
        plain = normal(key)
        return verdict if letters_of(plain) or quantity_of(plain) else AnswerMatch.NONE
    return verdict
