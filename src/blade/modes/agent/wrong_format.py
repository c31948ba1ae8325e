"""The output states the expected value, but not in the form that the grader reads.

Evidence
    No answer was extracted, and the output states the expected answer plainly.
Contradicted by
    An answer that was extracted.
False alarms
    A grader that reads another form than the prompt asks for: then the grader is at fault.
Example
    "The answer is 42", where the prompt asks for `\\boxed{42}`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "wrong-format",
    group="agent conduct",
    order=550,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Right value in the wrong format",
    title="The right value is given in a form that the grader does not read",
    action="Read the prompt beside the grader's pattern: correct the pattern if the prompt allows this form, else state the form in the prompt.",
    owner="prompt",
)
def wrong_format(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.difference(Differs.ANSWER, "not extracted")
    if found is None or not evidence.run.answers_recorded:
        return None
    return Candidate(confidence=Confidence.LIKELY, differences=(found,), party="unknown")
