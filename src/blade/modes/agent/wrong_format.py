"""The output is not in the form that the grader reads.

Evidence
    No answer was extracted, and the output states the expected answer plainly. Or the tests cannot parse the output in
    the format that the prompt names, and no rollout passes with the same error.
Contradicted by
    An answer that was extracted. A test that reads the output.
False alarms
    A grader that reads another form than the prompt asks for: then the grader is at fault. A file that was cut.
Example
    "The answer is 42", where the prompt asks for `\\boxed{42}`. Comma-separated lines in `/app/out.json`.
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
    row="Output in the wrong format",
    title="The output is in a form that the grader does not read ({subject})",
    action="Read the prompt beside the grader's pattern: correct the pattern if the prompt allows this form, else state the form in the prompt.",
    owner="prompt",
)
def wrong_format(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.difference(Differs.ANSWER, "not extracted")
    if found is not None:
        stated = tuple(evidence.of("answer:format"))
        told = "nothing was extracted, and the output states the expected answer"
        return Candidate(
            confidence=Confidence.LIKELY, signs=stated, differences=(found,), contrast=told, party="unknown"
        )
    sign = evidence.sign("test:unreadable")
    if sign is None or evidence.passes_with(sign) or evidence.sign("service:down-at-grading") is not None:
        return None
    told = f"the prompt asks for {sign.subject.upper()}, and the tests cannot parse what was handed in as that"
    return Candidate(confidence=Confidence.LIKELY, subject=f"no {sign.subject.upper()}", signs=(sign,), contrast=told)
