"""The answer is another one than expected.

Evidence
    The answer was extracted and compared with the expected one, and they differ; the subject is how. Without an expected
    answer: the work holds a false equation, and no pass of the run does.
Contradicted by
    Tasks whose passes differ from the expected answer as well.
False alarms
    Another way to write the expected answer.
Example
    Expected `42`, answered `41`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Differs
from blade.modes.compared import ANSWERS
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

KINDS = {
    "answer:sign": "the sign",
    "answer:unit": "the unit",
    "answer:factor": "off by a power of ten",
    "answer:off-by-one": "off by one",
    "answer:off-by-one-item": "off by one item",
    "answer:reordered": "right items in another order",
    "answer:superset": "more items than expected",
    "answer:subset": "fewer items than expected",
    "answer:several": "several answers",
    "answer:empty": "empty",
}
"""Kinds of difference that tell more than that two values differ."""


@mode(
    "wrong-answer",
    group="agent result",
    order=710,
    party="agent",
    stage=Stage.GRADED,
    row="Wrong answer",
    title="Answers are wrong: {subject}",
    action="Read three of these answers beside the expected ones, and sort them by kind before acting.",
    owner="prompt",
)
def wrong_answer(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.difference(Differs.ANSWER, "different", "absent", "contained")
    # An answer that holds the expected one is right; where a criterion fails, that is why it was rejected.
    explained = found is not None and found.name != "different" and evidence.difference(Differs.CHECK) is not None
    if found is not None and not explained:
        kind = next((one for one in evidence.of("answer:") if one.kind in KINDS), None)
        return Candidate(
            confidence=Confidence.PROVEN if found.name == "different" else Confidence.LIKELY,
            subject=KINDS[kind.kind] if kind is not None else "",
            signs=(kind,) if kind is not None else (),
            differences=(found,),
            contrast=ANSWERS[found.name],
        )
    false = evidence.sign("work:false-equation")
    if false is not None and evidence.judged and not evidence.run.kind_passes.get(false.kind, 0):
        told = f"`{false.subject}` is false; no pass of this run holds a false equation"
        return Candidate(confidence=Confidence.LIKELY, subject="a false equation", signs=(false,), contrast=told)
    if not evidence.judged or not evidence.answer or not evidence.expects_answer:
        return None
    named = evidence.difference(Differs.CHECK)
    if named is not None or evidence.sign("log:test-failed") is not None:
        return None
    return Candidate(confidence=Confidence.LIKELY, contrast="an answer was taken from the output and rejected")
