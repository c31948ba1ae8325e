"""What the simulated user was told, and what it said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from blade.model.pattern import pattern_of
from blade.model.rollout import Step

MOST_FACTS = 40
SHORTEST = 4
LONG_NUMBER = 5

_TOKEN = pattern_of(r"[\w.+@#-]+")
_NOT_FACTS = pattern_of(r"^\d+(?:st|nd|rd|th|am|pm|k|x|kg|lb|min|hr|days?|hours?)$", re.IGNORECASE)


@lru_cache(maxsize=4096)
def facts(script: str | None) -> tuple[str, ...]:
    """Ids, addresses and long numbers of a script, in order: what an agent cannot know unless it is told."""
    tokens = (match[0].strip("-_.+") for match in _TOKEN.finditer(script or ""))
    return tuple(dict.fromkeys(token for token in tokens if _is_fact(token)))[:MOST_FACTS]


def _is_fact(token: str) -> bool:
    """An e-mail address, a word that holds digits, or a number of five digits or more."""
    if len(token) < SHORTEST or _NOT_FACTS.match(token) is not None:
        return False
    if "@" in token:
        return "." in token.partition("@")[2]
    digits = sum(letter.isdigit() for letter in token)
    return digits > 0 and (any(letter.isalpha() for letter in token) or (token.isdecimal() and digits >= LONG_NUMBER))


def told(steps: Sequence[Step], wanted: Sequence[str], before: int | None = None) -> tuple[str, ...]:
    """Those facts that the user said, before a step where one is given."""
    said = " ".join(
        step.text.lower() for step in steps if step.party == "user" and (before is None or step.index < before)
    )
    return tuple(fact for fact in wanted if fact.lower().lstrip("#") in said)
