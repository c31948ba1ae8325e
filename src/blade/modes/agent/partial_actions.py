"""The agent made some of the required changes and left others out.

Evidence
    Expected changes are missing, and those that were made are right.
Contradicted by
    A missing change in the trajectory under another name.
False alarms
    A user who took a request back.
Example
    Two of three expected calls of `update_baggage` were made.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import declined, only, required, unless_broken_off
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "partial-actions",
    group="agent conduct",
    order=620,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Stopped partway",
    title="The agent stops partway: `{subject}` is missing",
    action="Have the agent list the open requests before it closes, and go through them one by one.",
    owner="prompt",
)
def partial_actions(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.MISSING)
    if not found or not only(evidence, Differs.MISSING):
        return None
    against = declined(found, evidence)
    return Candidate(
        confidence=unless_broken_off(evidence, Confidence.LIKELY if against else Confidence.PROVEN),
        subject=found[0].name,
        signs=against,
        differences=found,
        contrast=f"{required(found)}; the talk says why" if against else required(found),
    )
