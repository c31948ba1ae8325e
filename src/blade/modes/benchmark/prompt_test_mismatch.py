"""The test asks for another spelling of something than the prompt gives.

Evidence
    A literal of the failing assertion or command differs from the one in the prompt by order, case, punctuation or a letter, and the agent followed the prompt.
Contradicted by
    A pass with the prompt's spelling. A pass with the test's spelling does not clear the test.
False alarms
    Two names that are alike and both meant.
Example
    The test runs `/app/main.py.c`, and the prompt orders `/app/main.c.py`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "prompt-test-mismatch",
    group="benchmark",
    order=210,
    party="verifier",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Test contradicts the prompt",
    title="The test contradicts the prompt: {subject}",
    action="Make the test and the prompt agree on the quoted name, then grade these rollouts again.",
    owner="task author",
)
def prompt_test_mismatch(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("literal:near-miss")
    if sign is None or evidence.passes_with(sign):
        return None
    wanted, _, given = sign.subject.partition("|")
    sure = Confidence.PROVEN if evidence.failures_with(sign) > 1 and not evidence.task.solved else Confidence.LIKELY
    return Candidate(
        confidence=sure,
        subject=sign.subject,
        signs=(sign,),
        contrast=f"the test wants `{wanted}`; the prompt says `{given}`",
    )
