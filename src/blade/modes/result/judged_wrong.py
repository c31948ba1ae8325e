"""A judge rejected the result, and its words are all that is recorded.

Evidence
    A judge or grader writes why it rejected the result.
Contradicted by
    An expected answer that the result equals.
False alarms
    A judge that misread the output.
Example
    "The response omits the second condition."
"""

from __future__ import annotations

from blade.evidence.differences import A_JUDGE
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "judged-wrong",
    group="agent result",
    order=760,
    party="agent",
    stage=Stage.GRADED,
    row="Rejected by a judge",
    title="A judge rejects the result",
    action="Read three of these judgments beside the outputs, and decide whether the judge is right.",
    owner="prompt",
)
def judged_wrong(evidence: RolloutEvidence) -> Candidate | None:
    found = next((one for one in evidence.all_of(Differs.SAID) if one.detail == A_JUDGE), None)
    if found is None:
        return None
    told = "a judge rejects it in its own words"
    signs = tuple(evidence.of("judge:reason"))
    return Candidate(confidence=Confidence.LIKELY, signs=signs, differences=(found,), contrast=told)
