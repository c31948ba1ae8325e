"""The request names a value, the agent gives it, and the key wants another that nothing visible to the agent contains.

Why it matters
    An agent that does what it is asked cannot pass. The task fails however good the agent is.

What to do
    Set the request and the key side by side; correct the one that is wrong.

Limits
    Looks at never-pass tasks with two failures or more, and only where every carried-out call of that kind differs from
    the key in this one value. A request whose word is meant to be translated by a rule that nobody states is not told
    apart: no agent can know such a rule either.
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

FEWEST = 2
"""Failures of a task that must be there: a single one may be a slip."""


class _Turned(NamedTuple):
    """One value of one call that is not as the key has it."""

    tool: str
    name: str
    due: str
    made: str


@rule("TSK019", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def key_against_request(context: RunContext) -> Iterator[Doubt]:
    for task in context.reading.never:
        walks = context.reading.of(task)
        found = [(walk, turned) for walk in walks for turned in _turned(walk)]
        kinds = {turned for _, turned in found}
        if len(walks) < FEWEST or len(kinds) != 1:
            continue
        (turned,) = kinds
        if _asked_for(turned.made, walks) and not _visible(turned.due, walks):
            yield _contradiction(task, turned, found[0][0], walks, len(found))


def _turned(walk: AlignedTrajectory) -> Iterator[_Turned]:
    """Values that alone make a call differ from the key, in a rollout that differs in nothing else."""
    wrong, missing = walk.pairing.wrong, walk.pairing.missing
    if len(wrong) != 1 or len(wrong[0].names) != 1 or missing or walk.pairing.extra:
        return
    (name,) = wrong[0].names
    call = wrong[0]
    inner, due, made = provenance.first_difference(name, call.due.arguments.get(name), call.made.arguments.get(name))
    if isinstance(due, str) and isinstance(made, str) and all(map(provenance.can_be_traced, (due, made))):
        yield _Turned(tool=call.due.tool, name=inner, due=due, made=made)


def _asked_for(value: str, walks: Sequence[AlignedTrajectory]) -> bool:
    """Whether the user's own words, in the prompt, in the talk or in the script of a simulated one, hold the value."""
    return all(_request_with(walk, value) is not None for walk in walks)


def _request_with(walk: AlignedTrajectory, value: str) -> Step | None:
    said = [step for step in (*walk.rollout.prompt, *walk.steps) if step.party == "user"]
    return next((step for step in said if provenance.holds(step.text, value)), None)


def _visible(value: str, walks: Sequence[AlignedTrajectory]) -> bool:
    """Whether anything that the agent could see, or that its user was told, holds the value."""
    return any(
        provenance.in_prompt(walk.rollout, value)
        or provenance.source(walk.rollout, value) is not None
        or provenance.holds(walk.due.script or "", value)
        for walk in walks
    )


def _contradiction(
    task: str, turned: _Turned, walk: AlignedTrajectory, walks: Sequence[AlignedTrajectory], alike: int
) -> Doubt:
    call = walk.pairing.wrong[0].made.step
    evidence = quotes.of_call(walk.rollout, call, turned.made, turned.name)
    return Doubt(
        about="key",
        tasks=(task,),
        message=f"Task {task}: the request says {quotes.shown(turned.made)}, and the expected `{turned.name}` is "
        f"{quotes.shown(turned.due)}, which appears in nothing that the agent can see; {alike} of {len(walks)} failing repeats "
        f"do as they are asked ({walk.place}:{call.index})",
        rollouts=len(walks),
        places=tuple((task, one.repeat) for one in walks),
        evidence=(evidence,) if evidence else (),
    )
