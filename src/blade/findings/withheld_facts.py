"""What a finding about a simulated user quotes: what the agent asked for, the script holds, and the user did not give."""

from __future__ import annotations

from collections.abc import Sequence

from blade.evidence.context import QuotedSentence, RunContext
from blade.evidence.simulated_user import Withheld
from blade.findings.groups import FailureGroup


def withheld_facts(group: FailureGroup, context: RunContext) -> tuple[QuotedSentence, ...]:
    """Two tasks of the group, those in which a passing repeat was given the fact first."""
    places = set(group.failing)
    mine = [one for one in context.withheld if (one.walk.rollout.key.task_id, one.walk.repeat) in places]
    in_contrast = [one for one in mine if one.walk.rollout.key.task_id in context.contrasts] or mine
    return tuple(_kept_back(one, context) for one in _one_a_task(in_contrast)[:2])


def _one_a_task(kept: Sequence[Withheld]) -> list[Withheld]:
    """The plainest refusal of each task, those that name what was asked for first."""
    first: dict[str, Withheld] = {}
    for one in sorted(kept, key=lambda one: 0 if one.plain else 1):
        first.setdefault(one.walk.rollout.key.task_id, one)
    return list(first.values())


def _kept_back(one: Withheld, context: RunContext) -> QuotedSentence:
    text = f"{one.walk.place} needs `{one.fact}`, which the script holds"
    if one.reply is not None:
        text += f'; the user says (:{one.reply.step}) "{one.reply.quote}"'
    contrast = context.contrasts.get(one.walk.rollout.key.task_id)
    parted = [d for d in contrast.divergences if d.party == "user" and d.failing == one.walk.repeat] if contrast else []
    passed = parted[0].passed.evidence if parted else None
    if passed is not None:
        text += f'. Passing {passed.key}:{passed.step}: the user says "{passed.quote}"'
    return f"{text}.", tuple(piece for piece in (one.reply, passed) if piece is not None)
