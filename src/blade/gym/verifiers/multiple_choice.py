r"""The letter of the right option is chosen.

The letter is what is marked as the answer (`\boxed{B}`, *answer is (B)*, `<answer>`), else a last line that is a letter or
opens with one, else the words of exactly one option.

Row
    `expected_answer`: the letter. `options`: the options, as a list of texts, an object by letter, or a list of
    one-letter objects; without them any letter from A to Z counts.

Fields
    `extracted_answer`, `expected_answer`, `failure_reason`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_uppercase

from blade.gym.answers import LONGEST, final_answer, last_line
from blade.gym.environment import Row, Verdict
from blade.gym.single_turn import Config

_LETTER = re.compile(
    r"^\W{0,8}(?:(?:option|choice)\s{1,4})?\W{0,8}(?:\\text\w*\{)?\(?([A-Za-z])\)?\}?(?:\W|$)", re.IGNORECASE
)
_ALONE = re.compile(r"^\W*([A-Z])\W*$|^\W*\(?([A-Z])[).:]")


def gold(row: Row) -> str:
    """The letter, said plainly."""
    return f"The answer is ({row['expected_answer']})."


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the right letter, else 0."""
    expected = str(row["expected_answer"]).strip().upper()
    options = choices(row.get("options"))
    answer = _chosen(text, options)
    reason = _wrong(expected, answer, options)
    fields = {"extracted_answer": answer, "expected_answer": expected, "failure_reason": reason}
    return Verdict(reward=float(reason is None), fields=fields)


def choices(options: object) -> dict[str, str]:
    """The options by letter; empty where the row has none."""
    if isinstance(options, Mapping):
        return {str(letter).upper(): str(words) for letter, words in options.items()}
    if not isinstance(options, list):
        return {}
    if all(isinstance(one, Mapping) for one in options):
        return {str(letter).upper(): str(words) for one in options for letter, words in one.items()}
    return {letter: str(words) for letter, words in zip(ascii_uppercase, options, strict=False)}


def _chosen(text: str, options: Mapping[str, str]) -> str | None:
    marked = final_answer(text)
    if marked is not None:
        found = _LETTER.match(marked)
        return found.group(1).upper() if found else _by_words(marked, options)
    line = last_line(text) or ""
    alone = _ALONE.match(line)
    if alone:
        return alone.group(1) or alone.group(2)
    return _by_words(text[-LONGEST:], options)


def _by_words(text: str, options: Mapping[str, str]) -> str | None:
    """The one option whose words are used; None where several are."""
    said = text.casefold()
    used = [letter for letter, words in options.items() if words.strip() and words.strip().casefold() in said]
    return used[0] if len(used) == 1 else None


def _wrong(expected: str, answer: str | None, options: Mapping[str, str]) -> str | None:
    if answer is None:
        return "no option was chosen"
    if options and answer not in options:
        return "the chosen letter is none of the options"
    return None if answer == expected else "another option was chosen"
