"""The model's endpoint failed, and the agent could not act or go on.

Evidence
    An error in the words of an endpoint's client is recorded, or the response itself has failed, and no reply of the
    model follows it.
Contradicted by
    A reply of the model after the error.
False alarms
    A prompt that the endpoint refuses because it is too long or is filtered looks the same.
Example
    `API Error: Connection error.` is all that the session returned.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "provider-failed",
    group="machinery",
    order=120,
    party="harness",
    stage=Stage.AGENT_STARTED,
    valid=False,
    cause=Cause.INFRA,
    row="Model endpoint failed",
    title="The model's endpoint fails",
    action="Retry failed model calls, mark such a session as an error, and rerun these rollouts.",
    owner="harness",
)
def provider_failed(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("agent:api-error")
    if sign is not None:
        return Candidate(confidence=evidence.strength(sign), subject=sign.subject, signs=(sign,))
    # The endpoint's own reply says that it failed, in whatever words.
    replied = evidence.stop == "failed" and "INF001" in evidence.fired
    # A conversation that is too long is refused by the endpoint, which works.
    if evidence.sign("agent:context-full") is not None or not (replied or "INF007" in evidence.fired):
        return None
    return Candidate(
        confidence=Confidence.LIKELY, contrast="the endpoint's error is recorded, and the agent says nothing after it"
    )
