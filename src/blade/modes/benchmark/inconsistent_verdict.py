"""The same output was judged differently, or the grader contradicts itself.

Evidence
    Another rollout of the task passes with the very same output, or the reward and the grader's own tests of the same row disagree.
Contradicted by
    A difference in what was judged that the row does not hold, such as files.
False alarms
    Outputs that are equal in words while the work behind them differs.
Example
    `sum-001#0` and `sum-001#2` both answer 17; one passes.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "inconsistent-verdict",
    group="benchmark",
    order=250,
    party="verifier",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Same output judged differently",
    title="The same output is judged differently",
    action="Find out why the grader decides differently on equal outputs, and grade both again.",
    owner="test author",
)
def inconsistent_verdict(evidence: RolloutEvidence) -> Candidate | None:
    if evidence.judged_otherwise:
        return Candidate(
            confidence=Confidence.LIKELY, contrast="another rollout of this task passes with the same output"
        )
    doubt = evidence.doubt("TSK014", "TSK012")
    lost = evidence.checks_asked is not None and (evidence.checks_met or 0) < evidence.checks_asked
    if doubt is None or not doubt.named or lost:
        return None
    return Candidate(confidence=Confidence.LIKELY, contrast=doubt.message)
