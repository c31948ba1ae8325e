r"""Is the answer the one in the key? Compared as text and as exact numbers, without a model.

EQUAL, OTHER_FORM and NOT_EXTRACTED are claims: two readers would agree. Whatever takes knowledge of the task (order in a list,
units, rounding, synonyms, equivalent formulas) is UNKNOWN or CONTAINED, never a claim.

Work is bounded: texts of LONGEST characters or more are only tested for identity, and of the final text only the tail is read.
"""

from __future__ import annotations

from blade.evidence.answers.final import compare_final
from blade.evidence.answers.match import Match
from blade.evidence.answers.texts import LONGEST, compare

__all__ = ["Match", "compare_answer"]

_NOTHING = frozenset({"", "none", "null", "nan", "n/a"})


def compare_answer(answer: str | None, expected: str, final_text: str) -> Match:
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
