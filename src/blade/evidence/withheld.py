"""Rollouts in which the simulated user kept back what its script gives, though it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from blade.evidence import quotes
from blade.evidence.actions import parsed
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.contrast import asks_for, put_off
from blade.evidence.provenance import leaves, source
from blade.evidence.script import facts, told
from blade.model.finding import Evidence

LONG_NUMBER = 8


class Withheld(Struct, frozen=True, kw_only=True):
    """A fact that a rollout needed, was not given, and never used."""

    walk: AlignedTrajectory
    fact: str
    argument: str
    reply: Evidence | None
    """What the user said instead."""
    plain: bool
    """Whether that names what was asked for."""


def withheld(walks: Sequence[AlignedTrajectory]) -> list[Withheld]:
    """Of the failing rollouts of one task: those whose user never gave a fact that the task's calls use."""
    used = _used(walks)
    found = []
    for walk in walks:
        script = facts(walk.due.script)
        heard = told(walk.steps, script)
        for fact in script:
            if walk.passed or fact in heard or _has_it(walk, fact):
                continue
            argument = next((name for name in _arguments(fact, used, walk, heard) if asks_for(walk, name)), None)
            if argument is not None:
                found.append(_withheld(walk, fact, argument))
                break
    return found


def _arguments(fact: str, used: Mapping[str, str], walk: AlignedTrajectory, heard: Sequence[str]) -> tuple[str, ...]:
    """Names under which an agent may ask for a fact: the argument that takes it, or what it is by its form.

    Who the user is, is asked for by address or number; where it tells none of them and nothing is done, it keeps it back.
    """
    if fact.lower() in used:
        return (used[fact.lower()],)
    names = _names(fact)
    stuck = not walk.changes and not any(_names(other) for other in heard)
    return names if stuck else ()


def _names(fact: str) -> tuple[str, ...]:
    if "@" in fact:
        return ("email", "e_mail")
    return ("phone", "phone_number", "telephone") if fact.lstrip("+").isdecimal() and len(fact) >= LONG_NUMBER else ()


def _withheld(walk: AlignedTrajectory, fact: str, argument: str) -> Withheld:
    reply = put_off(walk, argument)
    phrase = argument.replace("_", " ").lower()
    words = quotes.of_text(walk.rollout, reply, (phrase, "have", "remember", "not")) if reply else None
    plain = words is not None and phrase in words.quote.lower()
    return Withheld(walk=walk, fact=fact, argument=argument, reply=words, plain=plain)


def _used(walks: Sequence[AlignedTrajectory]) -> dict[str, str]:
    """Values that the calls of a task use, made or due, with the name of the argument that takes them."""
    arguments = [parsed(call.arguments) for walk in walks for call in walk.calls]
    arguments += [call.arguments for call in walks[0].due.calls or ()]
    return {
        str(value).lower(): name
        for one in arguments
        for outer, item in one.items()
        for name, value in leaves(outer, item)
    }


def _has_it(walk: AlignedTrajectory, fact: str) -> bool:
    """Whether the agent had the fact all the same: it used it, or a result held it."""
    used = any(fact.lower() in (call.arguments or "").lower() for call in walk.calls)
    return used or source(walk.rollout, fact) is not None
