"""The agent made none of the required changes.

Evidence
    The expected actions hold changes, and the agent made no change at all.
Contradicted by
    A change in the trajectory; passes that make none either.
False alarms
    A simulated user who never asked for the change.
Example
    The expected `cancel_reservation` was never called, and neither was any other change.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import required
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "no-action",
    group="agent conduct",
    order=600,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Made none of the required changes",
    title="The agent makes none of the required changes ({subject})",
    action="Read what the agent says where the change was due: it refuses, hands over, or waits for a confirmation.",
    owner="prompt",
)
def no_action(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.NOT_MADE)
    return (
        Candidate(confidence=Confidence.PROVEN, subject=found[0].name, differences=found, contrast=required(found))
        if found
        else None
    )
