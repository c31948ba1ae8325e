"""An entry of a document, told apart from the other entries and from what is made up.

Row
    `expected_answer`. `entries`: what else the document gives, by name; the expected one may be among them.

Fields
    `extracted_answer`, `expected_answer`, `found_entry` (the name of the entry that was given), `failure_reason`.
"""

from __future__ import annotations

from blade.gym.answers import final_answer, last_line, shown
from blade.gym.environment import Row, Verdict
from blade.gym.single_turn import Config
from blade.gym.verifiers.exact_match import normalized


def gold(row: Row) -> str:
    """The entry."""
    return str(row["expected_answer"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the entry, else 0."""
    answer = final_answer(text) or last_line(text) or ""
    expected = normalized(str(row["expected_answer"]))
    given = normalized(answer)
    names = [name for name, value in row["entries"].items() if f" {normalized(str(value))} " in f" {given} "]
    fields = {
        "extracted_answer": shown(answer) or None,
        "expected_answer": row["expected_answer"],
        "found_entry": names[0] if len(names) == 1 else None,
        "failure_reason": None if given == expected else _wrong(given, expected, names),
    }
    return Verdict(reward=float(given == expected), fields=fields)


def _wrong(given: str, expected: str, names: list[str]) -> str:
    if not given:
        return "there is no answer"
    if f" {expected} " in f" {given} ":
        return "the entry stands among other words"
    return "another entry of the document" if names else "something that stands nowhere in the document"
