"""The agent made no call at all where calls were required.

Evidence
    The expected actions hold changes, and the agent only talked: it called no tool.
Contradicted by
    Any call in the trajectory; passes that make none either. A talk that breaks off on the user's side without a
    word of goodbye, as no pass does: then it is suspected only.
False alarms
    A simulated user who never asked for the change.
Example
    The expected `cancel_reservation` was never called, and neither was anything else.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import required, unless_broken_off
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "no-action",
    group="agent conduct",
    order=599,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Only talked, called no tool",
    title="The agent only talks and never calls a tool ({subject} is required)",
    action="Read what the agent says where the call was due: it refuses, hands over, or waits for a confirmation.",
    owner="prompt",
)
def no_action(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.NOT_MADE)
    if not found or evidence.calls != 0:
        return None
    told = f"{required(found)}; the agent calls no tool at all"
    return Candidate(
        confidence=unless_broken_off(evidence, Confidence.PROVEN),
        subject=found[0].name,
        differences=found,
        contrast=told,
    )
