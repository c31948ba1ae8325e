"""Failures that close with the words that a login, a CAPTCHA or a block kept the agent out: no doing of the model."""

from __future__ import annotations

import re

from blade.attribution.groups import FailureGroup
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext, at, none
from blade.evidence.differences import final_text
from blade.model.diagnosis import NOT_EXPLAINED, Support
from blade.model.pattern import pattern_of

FEWEST = 2
LONGEST = 1_500
"""Characters of a closing message that reports; a longer one is an answer that speaks of such things."""
_WALL = pattern_of(
    r"captchas?\b|(?:verify|prove|confirm)\w* (?:that )?(?:you|i|we)\W? ?(?:are|re|am|m) (?:not a robot|(?:a )?human)|paywall"
    r"|\b(?:log ?in|sign ?in|authentication|credentials|subscription) (?:wall|page|prompt|(?:is |are )?required)"
    r"|\brequir\w+ (?:a |an |me to |you to |users to )?(?:log(?:ging)? ?in|sign(?:ing)? ?in|authentication|account|subscription|credentials)"
    r"|anti-?bot|bot (?:detection|protection)|cloudflare|\baccess (?:was |is |has been )?(?:denied|blocked|forbidden)",
    re.IGNORECASE,
)
_KEPT_OUT = pattern_of(
    r"\b(?:unable|cannot|can't|could ?n[o']t|couldn't|was not able|wasn't able|blocked|prevent\w*|failed to|stopped me|without access)\b",
    re.IGNORECASE,
)
_UNJUDGED = ("no-answer", "declined", "no-verdict", NOT_EXPLAINED)
"""Modes that say no more than that nothing was handed in."""


def by_shut_out(context: RunContext) -> tuple[FailureGroup, FindingDraft] | None:
    """The failures that were read and close so; None where passing ones do too, or only one does."""
    walks = context.reading.walks.values()
    lost = [walk for walk in walks if not walk.passed and _is_shut_out(walk)]
    if len(lost) < FEWEST or any(_is_shut_out(walk) for walk in walks if walk.passed):
        return None
    rollouts = context.rollouts
    places = at(rollouts, [(walk.rollout.key.task_id, walk.repeat) for walk in lost])
    alone = places.only(rollouts.marked(context.in_mode(*_UNJUDGED).rows))
    group = FailureGroup(family="shut-out", name="", detail="", failing=places, passing=none(rollouts), alone=alone)
    return group, FindingDraft(
        title="A login, a CAPTCHA or a block keeps it out",
        what=f"{places.in_words} end with the agent saying so, and no passing rollout that was read does.",
        fix="give the agent what these pages ask for or a way around them, and run these rollouts again before blaming "
        "the model",
        brief="pages that keep the agent out",
        kind="harness",
        where=tuple(_closing(walk) for walk in lost[:2]),
        support=Support.CONSISTENT,
        estimable=False,
    )


def _is_shut_out(walk: AlignedTrajectory) -> bool:
    text = final_text(walk.steps)
    return len(text) <= LONGEST and _WALL.search(text) is not None and _KEPT_OUT.search(text) is not None


def _closing(walk: AlignedTrajectory) -> QuotedSentence:
    last = next(
        step for step in reversed(walk.steps) if step.party == "agent" and step.kind == "message" and step.text.strip()
    )
    found = _WALL.search(last.text)
    evidence = quotes.of_text(walk.rollout, last, (found[0],) if found is not None else ())
    said = f' (:{evidence.step}) "{evidence.quote}"' if evidence is not None else ""
    return f"{walk.place} ends with{said}.", (evidence,) if evidence is not None else ()
