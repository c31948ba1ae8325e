"""A tool reports success and does not do what it was asked to do.

Evidence
    The tool's results show the old value of a field that the call was to change.
Contradicted by
    A call of the same tool whose result shows the new value.
False alarms
    A tool that answers with the state before the call.
Example
    48 of 48 calls of `update_flights` return the old cabin.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "tool-defect",
    group="benchmark",
    order=260,
    party="tool",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Tool does not do what it reports",
    title="A tool reports success and changes nothing",
    action="Correct the tool, then rerun the tasks that call it.",
    owner="tool author",
)
def tool_defect(evidence: RolloutEvidence) -> Candidate | None:
    doubt = evidence.doubt("TSK002")
    if doubt is None or not doubt.named:
        return None
    return Candidate(confidence=Confidence.SUSPECTED, contrast=doubt.message, flag=True)
