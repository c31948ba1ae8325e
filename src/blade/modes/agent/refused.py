"""The agent declined the task.

Evidence
    The agent's last message refuses, or the grader records that nothing was attempted; and it took no action that the task requires.
Contradicted by
    A pass by declining in tasks with the same key; output that was delivered after all.
False alarms
    A polite sentence about what the agent cannot do, after it has done the task.
Example
    "I don't have the ability to download YouTube videos", in its first reply.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import acts_differ
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "refused",
    group="agent conduct",
    order=510,
    party="agent",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.BEHAVIOR,
    row="Declined the task",
    title="The agent declines the task",
    action="Read these rollouts: where the task is allowed, say so in the prompt, and name the tools that make it possible.",
    owner="prompt",
)
def refused(evidence: RolloutEvidence) -> Candidate | None:
    declined = evidence.difference(Differs.NO_ANSWER, "declined")
    if declined is not None:
        return Candidate(confidence=Confidence.LIKELY, differences=(declined,))
    sign = evidence.sign("ends:refusal")
    if sign is None or evidence.checks_met or acts_differ(evidence):
        return None
    sure = evidence.strength(sign)
    # Where passes end so as well, declining is no reason to fail.
    return Candidate(confidence=sure, signs=(sign,)) if sure is not Confidence.SUSPECTED else None
