"""The prompt of a task has a hole: a placeholder stands where something should be, agents say so, and no rollout passes.

Why it matters
    The agent was not given what the question is about, so nothing can be learned from its failing.

What to do
    Fill in what is missing, and run these tasks again.

Limits
    Holes are told by their form (`{{name}}`, `${NAME}`, `[insert ...]`, a line that is only `None`), and only where half
    of the repeats say in English that something is missing and no passing rollout that was read has the same in its
    prompt. A placeholder that the prompt calls one, or that an agent uses in a call, is meant. A hole that is simply
    empty is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule

_HOLE = pattern_of(
    r"""\{\{[\s\w.|-]{1,40}\}\} | \$\{[\w.]{1,40}\} | %\(\w{1,40}\)s | \[\[\s*\w{2,40}\s*\]\] | (?<![\w{(=:\[,])\{[a-z]+(?:_[a-z]+){1,4}\}(?![\w})])
    | <(?-i:[A-Z][A-Z_]{3,40})> | ^[^\w\n]{0,3}\{\w{1,40}\}[^\w\n]{0,3}$
    | \[object\ Object\] | ^[^\w\n$]{0,3}\$[A-Z_]{3,40}[^\w\n]{0,3}$ | [<\[][^<>\[\]\n]{0,30}\b(?:missing|unavailable|not\ available)\s*[>\]]
    | [<\[]\s*(?:please\s+)?(?:insert|paste|placeholder|fill|add|your|missing|todo|tbd|document|passage|context|text|content)\b[^<>\[\]\n]{0,40}[>\]]
    | ^\s*(?:none|null|nan|undefined|n/a|todo|tbd|\#n/a|\#ref!)\s*$
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_MISSED = pattern_of(
    r"""place.?holder|template|\b(?:not|never|n't|nothing)\b[^.\n]{0,30}\b(?:provided|included|filled|given|attached|see|contain|received)\b
    |\bmissing\b|\bempty\b|\bblank\b|\bpaste\b|\bno (?:actual )?(?:text|document|passage|question|content|issue|request|context|problem|task)\b
    |\b(?:send|share|provide|supply)\b[^.\n]{0,20}\b(?:it|the|your|actual)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of somebody who was not given what the question is about."""
LONGEST_PROMPT = 200_000


@rule("DAT005", scope="run", suggests=Cause.DATA, status="stable")
def hole_in_the_prompt(context: RunContext) -> Iterator[Doubt]:
    never = {task: walks for task in context.reading.never if (walks := context.reading.of(task)) and _holes(walks[0])}
    passing = (walk for walk in context.reading.walks.values() if never and walk.passed)
    usual = {hole for walk in passing for hole in _holes(walk)}
    for task, walks in never.items():
        holes = [hole for hole in _holes(walks[0]) if hole not in usual and not _is_meant(hole, walks)]
        if holes and sum(_misses_it(walk) for walk in walks) * 2 >= len(walks):
            yield Doubt(
                about="task",
                tasks=(task,),
                message=f"{task}: the prompt has a hole, {quotes.shown(holes[0], 60)}, and no rollout passes",
                rollouts=len(walks),
                places=tuple((task, walk.repeat) for walk in walks),
            )


def _is_meant(hole: str, walks: Sequence[AlignedTrajectory]) -> bool:
    """Whether the prompt says that it gives placeholders, or an agent put this one to use: then it is what was asked for."""
    prompt = "\n".join(step.text for step in walks[0].rollout.prompt)[:LONGEST_PROMPT]
    used = any(hole in (call.arguments or "") for walk in walks for call in walk.calls)
    return used or re.search(r"(?i)\bplace.?holders?\b", prompt) is not None


def _misses_it(walk: AlignedTrajectory) -> bool:
    """Whether the agent says that something was not given to it: code and templates have braces that are no holes."""
    spoken = [step.text for step in walk.steps if step.party == "agent" and step.kind == "message"]
    given = "\n".join(step.text for step in walk.rollout.prompt)[:LONGEST_PROMPT].lower()
    # What the prompt says itself, such as "use placeholders", tells nothing in the agent's mouth.
    return any(found[0].lower() not in given for text in spoken for found in _MISSED.finditer(text))


def _holes(walk: AlignedTrajectory) -> tuple[str, ...]:
    return _holes_in("\n".join(step.text for step in walk.rollout.prompt)[:LONGEST_PROMPT])


@lru_cache(maxsize=16)
def _holes_in(prompt: str) -> tuple[str, ...]:
    """The repeats of a task have one prompt."""
    return tuple(found.group(0).strip() for found in _HOLE.finditer(prompt))
