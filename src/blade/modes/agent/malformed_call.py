"""A tool call came back as plain text, so that nothing ran and the session ended.

Evidence
    The last message holds the markup of a tool call.
Contradicted by
    A prompt that asks for such markup.
False alarms
    An agent that quotes documentation.
Example
    `<function_calls><invoke name="Write">` as the text of the last message.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "malformed-call",
    group="agent conduct",
    order=508,
    party="unknown",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Tool call written as text",
    title="A tool call is written as text, and the session ends",
    action="Check the serving stack's tool-call parser on the quoted message; retry a turn that holds call markup.",
    owner="harness",
)
def malformed_call(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("ends:tool-call-as-text")
    if sign is not None:
        return Candidate(confidence=Confidence.LIKELY, signs=(sign,))
    if "ANS004" not in evidence.fired:
        return None
    return Candidate(
        confidence=Confidence.LIKELY, contrast="the last message holds a tool call as text, and no call follows"
    )
