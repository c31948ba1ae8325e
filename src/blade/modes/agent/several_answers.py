"""The agent gave more than one answer.

Evidence
    The answer holds several candidates of the kind that is expected.
Contradicted by
    A task that asks for several.
False alarms
    A list that is one answer.
Example
    "A or C".
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "several-answers",
    group="agent conduct",
    order=555,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Gave several answers",
    title="More than one answer is given",
    action="Ask for exactly one answer in the prompt.",
    owner="prompt",
)
def several_answers(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.difference(Differs.ANSWER, "several")
    return Candidate(confidence=Confidence.LIKELY, differences=(found,)) if found is not None else None
