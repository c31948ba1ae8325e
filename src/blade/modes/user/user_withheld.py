"""The simulated user did not give what its script holds, though the agent asked.

Evidence
    The agent asks for a fact, the user's script holds it, and the user never says it.
Contradicted by
    The user saying it in other words.
False alarms
    A fact that the script says to keep back.
Example
    "I don't have my user ID with me", while the script says "You are ethan_martin_2396".
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "user-withheld",
    group="user simulator",
    order=400,
    party="user_simulator",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Simulated user withheld what its script gives",
    title="The simulated user withholds what its script gives",
    action="Instruct the simulated user to give its facts when asked, then rerun these tasks.",
    owner="user simulator",
)
def user_withheld(evidence: RolloutEvidence) -> Candidate | None:
    doubt = evidence.doubt("TSK011")
    if doubt is None or not doubt.named:
        return None
    signs = tuple(evidence.of("user:withheld"))
    return Candidate(confidence=Confidence.LIKELY, signs=signs, contrast=doubt.message)
