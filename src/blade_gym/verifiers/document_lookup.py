"""An entry of a document, told apart from the other entries and from what is made up.

Row
    `expected_answer`. `entries`: what else the document gives, by name; the expected one may be among them.

Fields
    `given_text`, `found_entry` (the name of the entry that was given), `checks`, `failure_reason`.
"""

from __future__ import annotations

from blade_gym.answers import final_answer, last_line, shown
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config
from blade_gym.verifiers.exact_match import normalized
from blade_gym.verifiers.faults import checks

NOTHING = "there is no answer"
MADE_UP = "something that stands nowhere in the document"
ANOTHER = "another entry of the document"
AMONG_WORDS = "the entry stands among other words"
CRITERIA = {
    NOTHING: "an answer",
    MADE_UP: "an entry of the document",
    ANOTHER: "the entry that was asked for",
    AMONG_WORDS: "the entry and nothing else",
}


def gold(row: Row) -> str:
    """The entry."""
    return str(row["expected_answer"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the entry, else 0."""
    answer = final_answer(text) or last_line(text) or ""
    expected = normalized(str(row["expected_answer"]))
    given = normalized(answer)
    names = [name for name, value in row["entries"].items() if f" {normalized(str(value))} " in f" {given} "]
    reason = None if given == expected else _wrong(given, expected, names)
    fields = {
        "given_text": shown(answer) or None,
        "found_entry": names[0] if len(names) == 1 else None,
        "checks": checks(CRITERIA, reason),
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)


def _wrong(given: str, expected: str, names: list[str]) -> str:
    if not given:
        return NOTHING
    if f" {expected} " in f" {given} ":
        return AMONG_WORDS
    return ANOTHER if names else MADE_UP
