"""Talks of several agents: who spoke last, and whether anybody closed the talk. Nothing is said of who made the mistake that
decided the outcome.

`talk:no-conclusion` is made of a failed rollout that ends with the output of a program, to which nobody says anything.
`talk:closed` and `talk:unfinished` are made of judged rollouts, passes too: whether the last words close the talk, with the
number of messages as their subject. `actor:last` is made of failed rollouts whose steps name at least two actors. Its subject is the last actor that said or
printed anything, its quote the end of that. Rules that name the decisive step were measured, and are no better than a
constant guess (docs/concepts.md), so there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.closings import closes
from blade.model.finding import Sign
from blade.model.rollout import Outcome, Rollout

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SUBJECT = 120


def actor_signs(rollout: Rollout) -> Iterator[Sign]:
    """How a talk of several actors ended, and of a failed one who spoke last."""
    steps = rollout.steps or ()
    if len({step.actor for step in steps if step.actor}) < 2:
        return
    closing = next((step for step in reversed(steps) if step.text.strip()), steps[-1])
    ended = closing.kind == "message" and closes(closing.text)
    yield Sign(
        kind="talk:closed" if ended else "talk:unfinished", subject=str(steps[-1].index + 1), step=steps[-1].index
    )
    if rollout.outcome is not Outcome.FAILED:
        return
    if closing.kind == "result":
        quote = closing.text.rstrip()[-LONGEST:].strip()
        yield Sign(kind="talk:no-conclusion", quote=quote, field="text", step=closing.index)
    last = next((step for step in reversed(steps) if step.actor and step.text.strip()), None)
    if last is not None:
        quote = last.text.rstrip()[-LONGEST:].strip()
        yield Sign(
            kind="actor:last", subject=(last.actor or "")[:LONGEST_SUBJECT], quote=quote, field="text", step=last.index
        )
