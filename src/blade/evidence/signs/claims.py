"""The words in which a message reports work as done."""

from __future__ import annotations

import re

CLAIMS = (
    r"(?m)\bsuccess(?:fully|ful)?\b|\b(?:is|are|has been|have been|now|task|all(?: \w+){0,2})(?: now| been| fully)? (?:complete|completed|done|ready|working|fixed|finished|implemented|created|solved|resolved|passing)\b"
    r"|\ball (?:\w+ )?(?:tests|checks|requirements) (?:pass|are met|passed)|\bI(?:['\u2019]ve| have)(?: now| also| just)? (?:created|written|implemented|fixed|completed|built|added|set up|solved|updated|configured|found|verified)\b"
    r"|\u2705|\u2713|^\W*(?:done|perfect|excellent|fixed|created|wrote|implemented)\b"
)
"""Forms of such a report, in `re` and in google-re2."""
_claims = re.compile(CLAIMS, re.IGNORECASE)
_negation = re.compile(
    r"\b(?:not|no|un|never|without|cannot|if|once|after|until|when|partially)\b|n['\u2019]t\b", re.IGNORECASE
)


def success_claim(text: str) -> str:
    """The first sentence that reports something as done and denies nothing before it; empty where none does."""
    found = next((found for found in _claims.finditer(text) if not _negated(text, found)), None)
    return sentence_with(text, found.start()) if found is not None else ""


def _negated(text: str, found: re.Match[str]) -> bool:
    start = max(text.rfind(end, 0, found.start()) for end in ".!?\n") + 1
    return _negation.search(text, start, found.start()) is not None


def sentence_with(text: str, place: int) -> str:
    """The sentence that a place stands in, as it is in the text."""
    start = max(text.rfind(". ", 0, place), text.rfind("\n", 0, place), text.rfind("! ", 0, place)) + 1
    ends = [end for mark in (". ", "\n", "! ", "? ") if (end := text.find(mark, place)) != -1]
    return text[start : min(ends) + 1 if ends else len(text)].strip()
