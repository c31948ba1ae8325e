"""What the agent handed in equals what was expected, and was rejected.

Evidence
    The answer equals the expected one after case, white space and wrappers are set aside, or the grader's own two values agree.
Contradicted by
    Another requirement that the rollout fails.
False alarms
    A format that the prompt demands to the letter.
Example
    Expected `12`, answered `12.`, and the reward is 0.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "correct-but-rejected",
    group="benchmark",
    order=230,
    party="verifier",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Correct answer rejected",
    title="Answers equal to the expected one are rejected",
    action="Compare answers after normalizing them as the prompt allows, and grade these rollouts again.",
    owner="test author",
)
def correct_but_rejected(evidence: RolloutEvidence) -> Candidate | None:
    if evidence.difference(Differs.CHECK) is not None:
        return None
    equal = evidence.difference(Differs.ANSWER, "equal", "other form")
    if equal is not None:
        sure = Confidence.LIKELY if equal.name == "equal" else Confidence.SUSPECTED
        return Candidate(confidence=sure, differences=(equal,), contrast="the answer equals the expected one")
    doubt = evidence.doubt("TSK004")
    if doubt is None or not doubt.named:
        return None
    return Candidate(confidence=Confidence.LIKELY, contrast=doubt.message)
