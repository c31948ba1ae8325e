"""All expected calls were made, but in another order.

Evidence
    Each expected change has its equal, and one was made before another that the expected actions have earlier.
Contradicted by
    Passes of the run with another order than expected: then the grader does not mind.
False alarms
    Calls that do not depend on each other.
Example
    The refund is made before the cancellation.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.compared import acts_differ
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "wrong-order",
    group="agent conduct",
    order=608,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Right calls in the wrong order",
    title="The expected calls come in the wrong order ({subject})",
    action="State in the policy which call has to come first, and why.",
    owner="prompt",
)
def wrong_order(evidence: RolloutEvidence) -> Candidate | None:
    found = tuple(evidence.of("action:wrong-order"))
    if not found or any(one.kind != "action:wrong-order" for one in evidence.of("action:")):
        return None
    if evidence.sign("statement:missing") is not None or acts_differ(evidence):
        return None
    passes = evidence.run.kind_passes.get("action:wrong-order", 0)
    told = "all expected calls were made, in another order than expected"
    sure = Confidence.SUSPECTED if passes else Confidence.LIKELY
    return Candidate(confidence=sure, subject=found[0].subject, signs=found, contrast=told, flag=bool(passes))
