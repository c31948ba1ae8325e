"""The agent answered a question that cannot be answered.

Evidence
    The expected answer says that there is no answer, and the agent gave one.
Contradicted by
    Passes that answer such a question.
False alarms
    An expected answer that is a value such as `none`.
Example
    Expected `not enough information`, answered `42`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "answered-unanswerable",
    group="agent conduct",
    order=556,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Answered what cannot be answered",
    title="Questions without an answer are answered",
    action="Allow the answer that there is none in the prompt, and say in which form to give it.",
    owner="prompt",
)
def answered_unanswerable(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("answer:unanswerable")
    if sign is None or evidence.run.kind_passes.get("answer:unanswerable", 0):
        return None
    told = "the expected answer says that there is none, and one was given"
    return Candidate(confidence=Confidence.LIKELY, signs=(sign,), contrast=told)
