"""Talks of several agents: who spoke last. Nothing is said of who made the mistake that decided the outcome.

`actor:last` is made of failed rollouts whose steps name at least two actors. Its subject is the last actor that said or
printed anything, its quote the end of that. Rules that name the decisive step were measured, and are no better than a
constant guess (docs/attribution.md), so there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.model.finding import Sign
from blade.model.rollout import Outcome, Rollout

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SUBJECT = 120


def actor_signs(rollout: Rollout) -> Iterator[Sign]:
    """Who spoke last in a failed talk of several actors."""
    steps = rollout.steps or ()
    if rollout.outcome is not Outcome.FAILED or len({step.actor for step in steps if step.actor}) < 2:
        return
    last = next((step for step in reversed(steps) if step.actor and step.text.strip()), None)
    if last is not None:
        quote = last.text.rstrip()[-LONGEST:].strip()
        yield Sign(
            kind="actor:last", subject=(last.actor or "")[:LONGEST_SUBJECT], quote=quote, field="text", step=last.index
        )
