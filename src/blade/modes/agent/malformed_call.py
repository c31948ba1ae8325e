"""A tool call could not be read: it came back as plain text, its arguments are no JSON, or no such tool was offered.

Evidence
    The last message holds the markup of a tool call. Or every call of a required tool has arguments that are no JSON and
    fails, or the calls name tools that were not offered and fail; and a required change is missing.
Contradicted by
    A prompt that asks for such markup. A call of the required tool that succeeds.
False alarms
    An agent that quotes documentation.
Example
    `<function_calls><invoke name="Write">` as the text of the last message.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import acts_differ
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "malformed-call",
    group="agent conduct",
    order=508,
    party="unknown",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Tool call cannot be read",
    title="The agent's tool call cannot be read ({subject})",
    action="Check the serving stack's tool-call parser on the quoted message; retry a turn that holds call markup.",
    owner="harness",
)
def malformed_call(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("ends:tool-call-as-text")
    if sign is not None:
        return Candidate(confidence=Confidence.LIKELY, subject="written as text", signs=(sign,))
    broken = evidence.sign("call:unreadable")
    if broken is not None and acts_differ(evidence):
        told = f"the arguments of `{broken.subject}` are no JSON, no call of it succeeds, and it is required"
        return Candidate(
            confidence=Confidence.LIKELY, subject=broken.subject, signs=(broken,), contrast=told, party="agent"
        )
    if "BEH007" in evidence.fired and evidence.difference(Differs.NOT_MADE) is not None:
        told = "the agent calls a tool that does not exist, and makes none of the required changes"
        return Candidate(confidence=Confidence.LIKELY, subject="unknown tool", contrast=told, party="agent")
    if "ANS004" not in evidence.fired:
        return None
    return Candidate(
        confidence=Confidence.LIKELY,
        subject="written as text",
        contrast="the last message holds a tool call as text, and no call follows",
    )
