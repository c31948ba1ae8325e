"""The answer is the expected text, letter by letter or after case, spacing, punctuation and articles are taken away.

Row
    `expected_answer`: a text, or a list of texts of which any will do.

Config
    `normalize`: default true. `extract`: `final` (what is marked as the answer, else the last line; the default) or
    `whole` (the message).

Fields
    `extracted_answer`, `expected_answer`, `failure_reason`.
"""

from __future__ import annotations

import re
import unicodedata

from blade_gym.answers import LONGEST, final_answer, last_line, shown
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_MARKS = re.compile(r"[^\w\s./%+-]|(?<!\d)[./](?!\d)|(?<=\w)[.](?=\s|$)")


def gold(row: Row) -> str:
    """The expected text, marked as the answer."""
    return f"<answer>{_accepted(row)[0]}</answer>"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for a match, else 0."""
    accepted = _accepted(row)
    answer = text.strip() if config.get("extract") == "whole" else final_answer(text) or last_line(text)
    reason = _wrong(accepted, answer or "", exact=config.get("normalize", True) is False)
    fields = {"extracted_answer": shown(answer) or None, "expected_answer": accepted[0], "failure_reason": reason}
    return Verdict(reward=float(reason is None), fields=fields)


def _accepted(row: Row) -> list[str]:
    expected = row["expected_answer"]
    return [str(one) for one in expected] if isinstance(expected, list) else [str(expected)]


def _wrong(accepted: list[str], answer: str, *, exact: bool) -> str | None:
    if not answer.strip():
        return "there is no answer"
    if any(answer == one for one in accepted):
        return None
    near = normalized(answer) in {normalized(one) for one in accepted}
    if near:
        return "the answer differs in case, spacing or punctuation" if exact else None
    inside = any(normalized(one) and f" {normalized(one)} " in f" {normalized(answer)} " for one in accepted)
    return "the expected text stands among other words" if inside else "the answer is another text"


def normalized(text: str) -> str:
    """In small letters, without articles, punctuation and extra spacing; numbers keep their points and lose their commas."""
    folded = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    bare = _ARTICLES.sub(" ", _MARKS.sub(" ", _THOUSANDS.sub("", folded)))
    return " ".join(bare.split())
