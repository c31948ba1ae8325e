"""The limit of steps or turns ended the rollout.

Evidence
    The harness records that the limit of steps, turns or iterations was reached, or several rollouts break off after one
    and the same number of replies, which no other exceeds.
Contradicted by
    An end by the agent itself.
False alarms
    A simulated user who never stops talking uses up the turns.
Example
    `"stop": "max_turns"` after 30 turns.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Sign
from blade.modes.compared import limited
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "step-limit",
    group="limit",
    order=310,
    party="limit",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Ran out of steps",
    title="The step limit ends rollouts ({subject})",
    action="Decide: raise the limit of steps for these tasks, or tell the agent how many are left. Rerun a few with twice as many to see which.",
    owner="harness",
)
def step_limit(evidence: RolloutEvidence) -> Candidate | None:
    found = limited(evidence, "steps", "agent:cut-by-steps")
    most = evidence.stopped_at_most
    if found is None and (talk := evidence.talked_at_most) is not None:
        return _of_talk(evidence, talk)
    if found is not None or most is None:
        return found
    rollouts = evidence.alike(most)[0]
    told = f"it breaks off after {most.subject} replies, as {rollouts - 1} others do; no rollout of this run has more, and none of these passes"
    return Candidate(confidence=Confidence.LIKELY, signs=(most,), contrast=told)


def _of_talk(evidence: RolloutEvidence, talk: Sign) -> Candidate:
    """A talk of several actors that nobody closed, as long as any: what it ends with tells what was left undone."""
    unrun = evidence.sign("ends:call-without-result")
    others = evidence.alike(talk)[0] - 1
    told = (
        f"nobody closes the talk or gives a final answer; it breaks off after {talk.subject} messages, as {others} others do, "
        "and no talk of this run is longer"
    )
    last = evidence.sign("actor:last")
    return Candidate(
        confidence=Confidence.LIKELY,
        subject="ends with code that nobody ran" if unrun is not None else "no final answer",
        signs=tuple(one for one in (unrun or last,) if one is not None),
        contrast=told,
    )
