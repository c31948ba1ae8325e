"""A rollout did everything required and got no verdict.

Why it matters
    The reward is recorded as 0 all the same: a limit or a crash of the harness counts against the model.

What to do
    Raise the limit or repair the harness, and judge these rollouts again.

Limits
    Only where the key is a list of calls, and the verifier's account is there in other rollouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Differs
from blade.model.tools import changes_state
from blade.rules.declaration import rule

_ACTIONS = (Differs.UNWANTED, Differs.NOT_MADE, Differs.MISSING, Differs.EXTRA, Differs.ARGUMENT, Differs.NOT_SAID)


@rule("INF003", scope="run", suggests=Cause.INFRA, status="stable")
def done_without_verdict(context: RunContext) -> Iterator[Doubt]:
    walks = context.read(context.in_mode("no-verdict"))
    whole = [walk for walk in walks if _wants_change(walk) and not any(one.kind in _ACTIONS for one in walk.differs)]
    turns = Counter(_turns(walk) for walk in walks)
    if whole:
        last = whole[0].message_after(whole[0].steps[-1].index)
        evidence = quotes.of_text(whole[0].rollout, last) if last is not None else None
        yield Doubt(
            about="limit",
            tasks=tuple(walk.rollout.key.task_id for walk in whole),
            message=f"{', '.join(walk.place for walk in whole)} did everything required and got no verdict"
            + (f' (it says :{evidence.step} "{evidence.quote}")' if evidence else "")
            + (
                f"; each of the {len(walks)} without one ends after {next(iter(turns))} agent turns"
                if len(turns) == 1 < len(walks)
                else ""
            ),
            rollouts=len(whole),
            evidence=(evidence,) if evidence else (),
        )


def _wants_change(walk: AlignedTrajectory) -> bool:
    return any(changes_state(call.tool) for call in walk.due.calls or ())


def _turns(walk: AlignedTrajectory) -> int:
    """Turns of the agent: what it says and calls before anybody else speaks is one."""
    parties = [step.party for step in walk.steps]
    return sum(party == "agent" and before != "agent" for before, party in pairwise(["", *parties]))
