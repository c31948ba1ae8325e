"""What the verifier wrote, what the agent wrote and what it was given, as rules over the verifier's words need them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.model.finding import Evidence

Spoken = tuple[str, str]
"""Dotted path in the row, empty where none can name it, and the words there."""


def verifier_words(walk: AlignedTrajectory) -> Iterator[Spoken]:
    """What the verifier or a test of its own wrote about a rollout, each with its place in the row."""
    for said in walk.due.said:
        yield said.field, said.text
    for check in walk.due.checks:
        if check.words:
            yield check.words_field, check.words


def agent_words(walk: AlignedTrajectory) -> str:
    """All that the agent said and passed to tools, and the answer that was taken from it."""
    mine = (step for step in walk.steps if step.party == "agent")
    return "\n".join([*(f"{step.text}\n{step.arguments or ''}" for step in mine), walk.rollout.answer or ""])


def given_words(walk: AlignedTrajectory) -> str:
    """All that the agent was told, before its first turn and by users and tools after it."""
    heard = (step.text for step in walk.steps if step.party in ("user", "tool", "system"))
    return "\n".join([*(step.text for step in walk.rollout.prompt), *heard])


def told_words(walk: AlignedTrajectory) -> str:
    """What the task and its users said to the agent, without what tools returned."""
    return "\n".join(step.text for step in (*walk.rollout.prompt, *walk.steps) if step.party in ("user", "system"))


def quoted(walk: AlignedTrajectory, spoken: Spoken, quote: str) -> Evidence | None:
    """The words as evidence; None where no path names their place."""
    return quotes.of_row(walk.rollout, spoken[0], quote.strip()) if spoken[0] else None


def reward_of(walk: AlignedTrajectory) -> Evidence | None:
    """The reward as the row has it; None where it stands in another form than a number."""
    for name in ("reward", "score"):
        value = walk.row.get(name)
        if isinstance(value, int | float):
            return quotes.of_row(walk.rollout, name, json.dumps(value))
    return None
