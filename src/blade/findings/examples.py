"""Sentences that show a point: a divergence of two repeats, or what one failing rollout did and said."""

from __future__ import annotations

from collections.abc import Set

from blade.attribution.groups import FailureGroup
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import QuotedSentence, RunContext
from blade.evidence.contrast import words_of
from blade.evidence.in_words import failure_in_words, short
from blade.model.diagnosis import Divergence
from blade.model.finding import Evidence
from blade.stats.rollout_index import Ref

CLOSE = 6
"""Steps between words and the act that they explain."""


def examples(group: FailureGroup, context: RunContext) -> tuple[QuotedSentence, ...]:
    """A divergence that shows the difference, then a second one of another task; else what failing rollouts did."""
    telling = _telling(group, context)[:2]
    shown = [one.task_id for one in telling]
    others: dict[str, AlignedTrajectory] = {}
    for walk in context.read(group.alone or group.failing):
        if walk.rollout.key.task_id not in shown:
            others.setdefault(walk.rollout.key.task_id, walk)
    rest = [failure_in_words(walk, group.name) for walk in list(others.values())[: 2 - len(telling)]]
    return tuple(one for one in (*map(divergence_in_words, telling), *rest) if one[0])


def _telling(group: FailureGroup, context: RunContext) -> list[Divergence]:
    """Divergences that show the group's difference, the clearest of each task, clearest first."""
    mine = group.failing.within(context.contrasts)
    failing, found = set(mine), []
    for task in mine.tasks:
        fitting = [d for d in context.contrasts[task].divergences if _shows(d, group.name, failing)]
        found += [max(fitting, key=clarity)] if fitting else []
    return sorted(found, key=lambda one: -clarity(one))


def _shows(divergence: Divergence, name: str, failing: Set[Ref]) -> bool:
    return f"`{name}" in divergence.what and (divergence.task_id, divergence.failing) in failing


def clarity(one: Divergence) -> float:
    """How well a divergence shows its point: each side gives its reason, close to the act, from a shared start."""
    said, act, instead = one.failed.before, one.failed.evidence, one.passed.evidence
    words = words_of(one.what)
    score = min(one.shared, 2) + (2.0 if act is not None else 0.0)
    if said is not None:
        near = act is not None and (act.step or 0) - (said.step or 0) <= CLOSE
        score += 2 * quotes.reasons(said.quote) + quotes.weight(said.quote, words) / 2 + (2 if near else 0)
    if instead is not None:
        score += 2 * quotes.reasons(instead.quote) + quotes.weight(instead.quote, words) / 2
    return score


def divergence_in_words(one: Divergence) -> QuotedSentence:
    """`Task 39: 39#1:6 says "...", then calls cancel_reservation (:8), which the key has not; passing 39#0:4 says "...".`"""
    passed, failed = one.passed, one.failed
    said = failed.before if failed.before is not None and _is_close(failed.before, failed.evidence) else None
    fail, win = f"{one.task_id}#{one.failing}", f"{one.task_id}#{one.passing}"
    text = f'{fail}:{said.step} says "{said.quote}", then {one.what}' if said is not None else f"{fail} {one.what}"
    if failed.evidence is not None:
        text += f" (:{failed.evidence.step}{short(failed.evidence)})"
    if passed.evidence is not None:
        text += f"; passing {win}:{passed.evidence.step} {passed.did}{short(passed.evidence)}"
    found = tuple(piece for piece in (said, failed.evidence, passed.evidence) if piece is not None)
    return f"Task {one.task_id}: {text}.", found


def _is_close(said: Evidence, act: Evidence | None) -> bool:
    return act is not None and (act.step or 0) - (said.step or 0) <= CLOSE


def last_text(walk: AlignedTrajectory) -> str:
    """The end of the agent's last message."""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    return last.text[-4_000:] if last is not None else ""


def verb(group: FailureGroup, word: str) -> str:
    """The verb that goes with the group's rollouts."""
    return word + "s" if len(group.failing) == 1 else word
