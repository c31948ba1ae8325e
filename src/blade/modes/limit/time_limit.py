"""The time limit ended the rollout.

Evidence
    The harness records a timeout of the agent. Or the agent's part took as long as a round number of the row says, by the
    stamps, and its last call has no result.
Contradicted by
    A closing event of the agent before the limit.
False alarms
    A configured limit that differs from the one that took effect.
Example
    `AgentTimeoutError`; the required output was not written.
Checked on
    A run of 46 trials of Harbor: in 2 of 2 the harness records that the agent's time was over.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.compared import delivered, limited
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "time-limit",
    group="limit",
    order=300,
    party="limit",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Ran out of time",
    title="The time limit ends rollouts ({subject})",
    action="Decide: raise the time limit for these tasks, or have the agent deliver a first version early. Rerun a few with twice the time to see which.",
    owner="harness",
)
def time_limit(evidence: RolloutEvidence) -> Candidate | None:
    recorded = limited(evidence, "time", "agent:cut-by-time")
    reached = evidence.sign("agent:at-time-limit")
    if recorded is not None or reached is None or evidence.is_usual_end("ends:call-without-result"):
        return recorded
    told = f"{reached.subject}; its last call has no result"
    return Candidate(confidence=Confidence.LIKELY, subject=delivered(evidence), signs=(reached,), contrast=told)
