"""The grader raised an error in its own code, and gave no verdict on what the agent left.

Evidence
    The grader's account says that it failed itself, or an exception is raised in its own code.
Contradicted by
    A pass of the same task with the same error; a verdict beside the error.
False alarms
    An error about what was handed in, which a grader may report as its own.
Example
    `"error": "evaluator exception"` in the account of a rollout that counts as failed.
"""

from __future__ import annotations

from blade.evidence.differences import UNDECIDED
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import of_grader
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "grader-crashed",
    group="machinery",
    order=190,
    party="verifier",
    stage=Stage.AGENT_FINISHED,
    valid=False,
    cause=Cause.TASK,
    row="Grader failed in its own code",
    title="The grader fails in its own code: {subject}",
    action="Fix the grader's error (quoted), have it report an error in place of a reward, and grade these rollouts again.",
    owner="test author",
)
def grader_crashed(evidence: RolloutEvidence) -> Candidate | None:
    own = next((one for one in evidence.all_of(Differs.NO_RECORD) if one.detail not in ("", UNDECIDED)), None)
    if own is not None:
        told = evidence.sign("broke:grader")
        signs = (told,) if told is not None else ()
        return Candidate(confidence=Confidence.LIKELY, subject=own.detail, signs=signs, differences=(own,))
    sign = evidence.sign("frame:harness")
    if sign is not None and not evidence.passes_with(sign) and not evidence.task.solved:
        return Candidate(
            confidence=Confidence.LIKELY if evidence.failures_with(sign) > 1 else Confidence.SUSPECTED,
            subject=sign.subject,
            signs=(sign,),
        )
    if evidence.outcome == "failed" or not of_grader(evidence.error_class):
        return None
    return Candidate(
        confidence=Confidence.LIKELY,
        subject=evidence.error_class or "",
        contrast=f"recorded as {evidence.error_class}, without a verdict",
    )
