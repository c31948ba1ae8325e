"""The name of a tool as English, where it is a verb and its object: `cancel_reservation`."""

from __future__ import annotations

import re

_VERBS = frozenset(
    (  # noqa: SIM905 - a list would take a line for each word
        "accept add apply approve archive assign block book cancel change charge clear close complete create deactivate "
        "delete deploy disable drop edit enable exchange forward grant install insert issue merge modify move open order "
        "overwrite pay place post publish purchase reassign refund reject remove rename replace reply reschedule reserve "
        "reset restart return revoke schedule send set start stop submit suspend terminate transfer uninstall unlock "
        "update upgrade upload withdraw write"
    ).split()
)
"""Verbs with which programs name calls that change something."""
_PREPOSITIONS = frozenset("to for from with in on at into by of as and or".split())  # noqa: SIM905
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def verb_and_objects(tool: str) -> tuple[str, str] | None:
    """`cancel`, `reservations`: the verb and its object in the plural; None where the name reads otherwise.

    Words before the verb are a name space (`calendar_delete_event`).
    """
    words = [word.lower() for word in _WORD.findall(tool)]
    at = next((place for place, word in enumerate(words) if word in _VERBS), None)
    if at is None or len(words) == at + 1 or _PREPOSITIONS.intersection(words[at + 1 :]):
        return None
    return words[at], f"{' '.join(words[at + 1 : -1])} {_plural(words[-1])}".strip()


def third_person(verb: str) -> str:
    """`cancels`, `modifies`, `pushes`."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"


def _plural(noun: str) -> str:
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return third_person(noun)
