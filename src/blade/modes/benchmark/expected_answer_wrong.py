"""The expected answer or action contradicts what the task itself shows.

Evidence
    The expected value stands nowhere that the agent can see, while a record or the request shows another; or models that differ agree on one other answer;
    or every repeat declines the expected action in the words of a rule that the agent was given.
Contradicted by
    A pass of the task in any run.
False alarms
    A value that follows from others by arithmetic.
Example
    The expected date of birth is 1985-04-04; the profile says 1981-05-26, and all four rollouts use it.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "expected-answer-wrong",
    group="benchmark",
    order=240,
    party="task",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Expected answer looks wrong",
    title="The expected answer contradicts the task's own records",
    action="Check the expected answer of this task against the quoted record, and correct one of them.",
    owner="task author",
)
def expected_answer_wrong(evidence: RolloutEvidence) -> Candidate | None:
    doubt = evidence.doubt("TSK019", "TSK001", "TSK016", "TSK006")
    if doubt is None or evidence.task.solved:
        return None
    return Candidate(confidence=Confidence.LIKELY, contrast=doubt.message)
