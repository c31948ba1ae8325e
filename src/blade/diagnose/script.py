"""What the simulated user was told, and what it said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade.core.rollout import Step

MOST_FACTS = 40

_FACT = re.compile(
    r"""[\w.+-]+@[\w-]+\.[\w.]+          # an e-mail address
      | \#?\w*[A-Za-z_]\w*\d[\w-]*       # an id that holds digits: mia_li_3668, JG7FMM, #W123
      | \#?\w*\d\w*[A-Za-z_][\w-]*
      | \b\d{5,}\b                       # a zip code or a number
    """,
    re.VERBOSE,
)
_NOT_FACTS = re.compile(r"^\d+(?:st|nd|rd|th|am|pm|k|x|kg|lb|min|hr|days?|hours?)$", re.IGNORECASE)


def facts(script: str | None) -> tuple[str, ...]:
    """Ids, addresses and numbers of a script, in order: what an agent cannot know unless it is told."""
    found = (match[0].strip("-_.") for match in _FACT.finditer(script or ""))
    kept = dict.fromkeys(fact for fact in found if len(fact) >= 4 and _NOT_FACTS.match(fact) is None)
    return tuple(kept)[:MOST_FACTS]


def told(steps: Sequence[Step], wanted: Sequence[str], before: int | None = None) -> tuple[str, ...]:
    """Those facts that the user said, before a step where one is given."""
    said = " ".join(
        step.text.lower() for step in steps if step.party == "user" and (before is None or step.index < before)
    )
    return tuple(fact for fact in wanted if fact.lower().lstrip("#") in said)
