"""A transcript is close enough to the reference, counted in words.

Case and punctuation are taken away, small numbers become digits, and a few spellings of one thing become one.

Row
    `text` or `expected_answer`: the reference.

Config
    `max_wer`: the highest error rate that passes; default 0.05. `graded`: the reward is 1 minus the error rate.

Fields
    `pred_text`, `expected_answer` (both normalized), `wer`, `substitutions`, `deletions`, `insertions`,
    `reference_words`, `failure_reason`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from blade.core.number_words import NUMBER_WORDS
from blade.gym.answers import shown
from blade.gym.environment import Row, Verdict
from blade.gym.single_turn import Config

MAX_WER = 0.05
LONGEST = 40_000
"""Characters of a transcript that are compared; the words beyond them count as insertions all the same."""
_NOT_WORD = re.compile(r"[^\w\s']")
_SPELLINGS = {
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "st": "saint",
    "okay": "ok",
    "won't": "will not",
    "can't": "can not",
    "cannot": "can not",
    "i'm": "i am",
    "it's": "it is",
    "that's": "that is",
    "don't": "do not",
    "didn't": "did not",
    "doesn't": "does not",
    "isn't": "is not",
    "o'clock": "oclock",
}
_SPELLINGS |= {word: str(number) for number, word in enumerate(NUMBER_WORDS)}


def gold(row: Row) -> str:
    """The reference."""
    return _reference(row)


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when the error rate is low enough, else 0; or 1 minus the rate."""
    wanted, said = normalized(_reference(row)), normalized(text[:LONGEST])
    counts = _errors(wanted, said, beyond=len(text[LONGEST:].split()))
    wer = sum(counts.values()) / max(1, len(wanted))
    allowed = float(config.get("max_wer", MAX_WER))
    reward = max(0.0, 1.0 - wer) if config.get("graded") else float(wer <= allowed)
    fields: dict[str, Any] = {
        "pred_text": shown(" ".join(said)),
        "expected_answer": " ".join(wanted),
        "wer": wer,
        **counts,
        "reference_words": len(wanted),
        "failure_reason": None if wer <= allowed else _reason(said, counts),
    }
    return Verdict(reward=reward, fields=fields)


def _reference(row: Row) -> str:
    return str(row.get("expected_answer") or row["text"])


def normalized(text: str) -> list[str]:
    """The words of a text that count."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    plain = [word.strip("'") for word in _NOT_WORD.sub(" ", folded).split()]
    return " ".join(_SPELLINGS.get(word, word) for word in plain if word).split()


def _errors(wanted: list[str], said: list[str], *, beyond: int) -> dict[str, int]:
    from rapidfuzz.distance import Levenshtein

    edits = [edit.tag for edit in Levenshtein.editops(wanted, said)]
    return {
        "substitutions": edits.count("replace"),
        "deletions": edits.count("delete"),
        "insertions": edits.count("insert") + beyond,
    }


def _reason(said: list[str], counts: dict[str, int]) -> str:
    if not said:
        return "the transcript is empty"
    most = max(counts, key=lambda name: (counts[name], name))
    return f"too many word errors, mostly {most}"
