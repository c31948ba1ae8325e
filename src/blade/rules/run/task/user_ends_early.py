"""The simulated user gives the go-ahead and ends the talk in the same message.

Why it matters
    The agent has no turn left to do what it was just told to do.

What to do
    Tell the simulated user to wait until its wish is carried out.

Limits
    The go-ahead is told by English words, or by a short reply without a but to a question for one; only rollouts that
    lack a change that was due are looked at, and none that the harness says it ended by an error. Where most talks of the
    run end with a token of the user, so must these.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext, spread
from blade.evidence.simulated_user import hung_up, says_it_ends
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Differs
from blade.rules.declaration import rule


@rule("TSK005", scope="run", suggests=Cause.TASK, status="stable")
def user_ends_early(context: RunContext) -> Iterator[Doubt]:
    lacking = (Differs.NOT_MADE, Differs.MISSING)
    with_token = sum(map(says_it_ends, context.reading.walks.values()))
    # Where users say with a token that they end a talk, one that stops without it was ended by something else.
    by_token = with_token * 2 > len(context.reading.walks)
    left = [
        walk
        for walk in _failing(context)
        if any(one.kind in lacking for one in walk.differs)
        and _ended_well(walk)
        and (says_it_ends(walk) or not by_token)
    ]
    found = [(walk, evidence) for walk in left if (evidence := hung_up(walk)) is not None]
    if found:
        walk, evidence = found[0]
        places = [(one.rollout.key.task_id, one.repeat) for one, _ in found]
        yield Doubt(
            about="user",
            tasks=tuple(dict.fromkeys(task for task, _ in places)),
            message=f"the simulated user agrees and ends the conversation in one message in {spread(places)} "
            f'({walk.place}:{evidence.step} "{evidence.quote}")',
            rollouts=len(places),
            places=tuple(places),
            evidence=(evidence,),
        )


def _ended_well(walk: AlignedTrajectory) -> bool:
    return not (walk.rollout.error or "").strip() and all(one.kind != Differs.ERROR for one in walk.differs)


def _failing(context: RunContext) -> list[AlignedTrajectory]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]
