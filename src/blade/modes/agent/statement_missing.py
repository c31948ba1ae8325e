"""The agent did not tell the user something that the task requires it to say.

Evidence
    A required statement stands in none of the agent's messages.
Contradicted by
    The same statement in other words.
False alarms
    A number that is written in words.
Example
    The agent never states `327`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "statement-missing",
    group="agent conduct",
    order=650,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Did not state what was required",
    title="The agent does not state what the user must be told",
    action="Compare what the agent says with the required statement: it states another value, or answers only a part of the request.",
    owner="prompt",
)
def statement_missing(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.NOT_SAID)
    return (
        Candidate(
            confidence=Confidence.PROVEN,
            subject=found[0].name,
            differences=found,
            contrast=f"`{found[0].name}` stands in no message of the agent",
        )
        if found
        else None
    )
