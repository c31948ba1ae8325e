"""The simulated user ended the conversation before the agent could do what it had agreed to.

Evidence
    The user gives the go-ahead and ends the talk in the same message, and expected changes are missing.
Contradicted by
    A change that the agent still made.
False alarms
    A user who accepts a transfer to a person.
Example
    "Please go ahead and issue the certificate. ###STOP###"
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "user-left-early",
    group="user simulator",
    order=410,
    party="user_simulator",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Simulated user left before the agent could act",
    title="The simulated user ends the conversation too early",
    action="Let the simulated user end the conversation only after the agent has answered its last request, then rerun these tasks.",
    owner="user simulator",
)
def user_left_early(evidence: RolloutEvidence) -> Candidate | None:
    doubt = evidence.doubt("TSK005")
    if doubt is None or not doubt.named:
        return None
    signs = tuple(evidence.of("user:left-early"))
    return Candidate(confidence=Confidence.LIKELY, signs=signs, contrast=doubt.message)
