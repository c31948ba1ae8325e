"""A call that the task expects was not made, where calls that read are all that is expected.

Evidence
    The expected actions change nothing, and one of them is not among the calls.
Contradicted by
    Passes that leave it out as well.
False alarms
    Another way to the same information.
Example
    `get_weather` was expected and not called.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import required
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "action-missing",
    group="agent conduct",
    order=640,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Expected call missing",
    title="The expected call of `{subject}` is missing",
    action="Read these rollouts: the agent answers without the look-up, or takes another tool.",
    owner="prompt",
)
def action_missing(evidence: RolloutEvidence) -> Candidate | None:
    found = tuple(one for one in evidence.all_of(Differs.LOOKUP) if not one.detail)
    if not found or not evidence.run.only_reads:
        return None
    return Candidate(confidence=Confidence.PROVEN, subject=found[0].name, differences=found, contrast=required(found))
