"""The agent gave the task back: it asked, advised or gave up in place of finishing.

Evidence
    Nobody answers the agent, its session ends by itself, and it closes with open items on its own list, by giving up, or with a question.
Contradicted by
    A test of the task that holds; a user who answers; a last call without a result, which says that the session was cut.
False alarms
    An offer of further help after the work is done.
Example
    "Below are the AWS CLI steps. Should I run them?", and none was run.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.compared import acts_differ
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "handed-back",
    group="agent conduct",
    order=515,
    party="agent",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.BEHAVIOR,
    row="Gave the task back unfinished",
    title="The agent gives the task back unfinished",
    action="Tell the agent that nobody will answer, that it may act, and that it must check that the required output exists before it ends.",
    owner="prompt",
)
def handed_back(evidence: RolloutEvidence) -> Candidate | None:
    asks = evidence.sign("ends:question")
    advises = asks is not None and asks.subject == "advice"
    claims = evidence.sign("ends:success-claim") is not None and not advises
    if evidence.checks_met or evidence.sign("log:test-passed") is not None or claims:
        return None
    if evidence.sign("ends:call-without-result") is not None or acts_differ(evidence):
        return None
    sign = evidence.sign("ends:gave-up", "ends:open-todos", "ends:question")
    if sign is None:
        return None
    absent = evidence.sign("missing:named-in-prompt")
    unsure = sign.kind == "ends:question" and absent is None and not advises
    sure = Confidence.SUSPECTED if unsure else Confidence.LIKELY
    return Candidate(confidence=sure, signs=(sign, absent) if absent else (sign,))
