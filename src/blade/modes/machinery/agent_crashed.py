"""The agent program stopped with an error of its own before the agent was done.

Evidence
    The session has no closing event, and an uncaught error of the agent's runtime follows its last action. The same error in several rollouts and in no pass proves it.
Contradicted by
    A closing event of the agent, or a limit that was reached first.
False alarms
    A trace that a tool printed, or a crash after the work was done.
Example
    `Error: spawn ps ENOENT` after the last tool call, in nine trials of one run.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "agent-crashed",
    group="machinery",
    order=130,
    party="harness",
    stage=Stage.AGENT_ACTED,
    valid=False,
    cause=Cause.INFRA,
    row="Agent program crashed",
    title="The agent program crashes ({subject})",
    action="Fix the quoted error in the agent's image or program, mark a session without a closing event as a harness error, and rerun these rollouts.",
    owner="harness",
)
def agent_crashed(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("agent:crashed")
    if sign is None or evidence.difference(Differs.CUT) is not None:
        return None
    return Candidate(
        confidence=evidence.strength(sign), subject=sign.subject, signs=(sign,), contrast=evidence.contrast(sign)
    )
