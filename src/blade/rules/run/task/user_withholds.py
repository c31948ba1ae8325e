"""The simulated user keeps back what its script gives, though it is asked.

Why it matters
    The agent cannot go on without it; the failure is the simulation's.

What to do
    Tell the simulated user to give its ids when asked, and run these tasks again.

Limits
    Looks only at ids, addresses and long numbers that the calls of the task use. Asking is told by the argument's
    name.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.context import RunContext, spread
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.rules.declaration import rule


@rule("TSK011", scope="run", suggests=Cause.TASK, status="stable")
def user_withholds(context: RunContext) -> Iterator[Doubt]:
    kept = list(context.withheld)
    if not kept:
        return
    places = [(one.walk.rollout.key.task_id, one.walk.repeat) for one in kept]
    evidence: tuple[Evidence, ...] = tuple(one.reply for one in kept if one.reply is not None)[:1]
    yield Doubt(
        about="user",
        tasks=tuple(dict.fromkeys(task for task, _ in places)),
        message=f"the simulated user does not give what its script holds in {spread(places)}",
        rollouts=len(places),
        places=tuple(places),
        evidence=evidence,
    )
