"""A failing rollout gives an id or an address that nothing it had seen contains, where the key has another.

Why it matters
    The agent guesses what it could look up. The guess looks right, tools often take it, and the wrong record is changed.

What to do
    Ask for the look-up in the prompt, or let the harness refuse an id or address that no message and no result holds.

Limits
    Values with an @ or with digits that make a name; not plain words, dates or amounts. What the agent could have put
    together from parts that it saw is not told apart from a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.rollout import Step
from blade.rules.declaration import rule


class _Guess(NamedTuple):
    """A value that came from nowhere."""

    walk: AlignedTrajectory
    call: Step
    name: str
    made: object
    due: object


@rule("BEH013", scope="run", suggests=Cause.BEHAVIOR, status="stable")
def made_up_name(context: RunContext) -> Iterator[Doubt]:
    for task in (*context.reading.sometimes, *context.reading.never):
        failing = [walk for walk in context.reading.of(task) if not walk.passed]
        guesses = [found for walk in failing if (found := next(_guesses(walk), None)) is not None]
        if guesses:
            yield _doubt(task, guesses, failing)


def _guesses(walk: AlignedTrajectory) -> Iterator[_Guess]:
    for wrong in walk.pairing.wrong:
        call = wrong.made.step
        for argument in wrong.names:
            name, due, made = provenance.first_difference(
                argument, wrong.due.arguments.get(argument), wrong.made.arguments.get(argument)
            )
            if provenance.is_name(due) and provenance.is_name(made) and not _seen(walk, made, call.index):
                yield _Guess(walk=walk, call=call, name=name, made=made, due=due)


def _seen(walk: AlignedTrajectory, value: object, before: int) -> bool:
    return provenance.in_prompt(walk.rollout, value) or provenance.source(walk.rollout, value, before) is not None


def _doubt(task: str, guesses: Sequence[_Guess], failing: Sequence[AlignedTrajectory]) -> Doubt:
    first = guesses[0]
    evidence = quotes.of_call(first.walk.rollout, first.call, first.made, first.name)
    return Doubt(
        about="agent",
        tasks=(task,),
        message=f"{len(guesses)} of {len(failing)} failing repeats give a value that nothing they had seen contains: "
        f"{first.walk.place}:{first.call.index} gives `{first.name}` {quotes.shown(first.made)}, expected "
        f"{quotes.shown(first.due)}",
        rollouts=len(guesses),
        places=tuple((task, one.walk.repeat) for one in guesses),
        evidence=(evidence,) if evidence else (),
    )
