"""What the agent says against an action that was due.

`declined:action` quotes the sentence, with the tool as its subject. It stands in a message that names the object of the
expected call, or what its tool is for, and says that it cannot or may not be done. Whether the agent's instructions
forbid it, or it only believes so, takes reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from blade.evidence.actions import carried_out, changes, pair
from blade.evidence.provenance import is_name
from blade.evidence.quotes import SENTENCE
from blade.evidence.signs.view import words_of
from blade.model.expected import DueCall
from blade.model.finding import Sign
from blade.model.pattern import pattern_of
from blade.model.rollout import Step
from blade.model.tools import changes_state

MOST = 2
"""Actions of which the refusal is quoted."""
LONGEST = 200
"""Characters of a quote; the sign's own limit."""
SHORTEST_WORD = 5
"""Letters of a word of a tool's name that says what it is for."""
_DECLINES = pattern_of(
    r"\b(?:cannot|can[\u2019']t|won[\u2019']t|unable to|not (?:able to|possible|allowed|permitted|eligible|available|within|something)|(?:is|are)n[\u2019']t"
    r" (?:able|possible|allowed|permitted|eligible)|(?:do|does)(?:n[\u2019']t| not) (?:meet|qualify|allow|permit|cover|provide|support)|not meet|ineligible"
    r"|can only|only (?:be|if|when|for)|against (?:our|the) polic|policy (?:does|prohibits|forbids|states|requires))\b",
    re.IGNORECASE,
)
_OF_THE_USER = pattern_of(
    r"\b(?:if )?you(?:[\u2019']re| are)? (?:cannot|can[\u2019']t|unable|not able|don[\u2019']t)\b", re.IGNORECASE
)


def declines(due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    """The last sentence against each action that was due and never made."""
    missing = pair([call for call in due if changes_state(call.tool)], changes(carried_out(steps))).missing
    for call in list({call.tool: call for call in missing}.values())[:MOST]:
        found = _against(call, [step for step in steps if step.party == "agent" and step.kind == "message"])
        if found is not None:
            step, sentence = found
            yield Sign(kind="declined:action", subject=call.tool, quote=sentence, field="text", step=step.index)


def _against(call: DueCall, said: Sequence[Step]) -> tuple[Step, str] | None:
    """The last message that speaks of a call and declines, by the sentence that says most about it."""
    ids = [str(value).lower() for value in call.arguments.values() if is_name(value)]
    about = [*ids, *(word for word in words_of(call.tool) if len(word) >= SHORTEST_WORD)]
    named = [step for step in said if any(one in step.text.lower() for one in ids)]
    for step in (*reversed(named), *reversed(said)):
        text = step.text.lower()
        if not any(word in text for word in about) or not _DECLINES.search(step.text):
            continue
        sentences = [match[0].strip() for match in SENTENCE.finditer(step.text) if "?" not in match[0]]
        against = [one for one in sentences if _DECLINES.search(one) and not _OF_THE_USER.search(one)]
        if against:
            return step, max(against, key=lambda one: sum(word in one.lower() for word in about))[:LONGEST].strip()
    return None
