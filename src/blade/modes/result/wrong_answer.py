"""The answer is another one than expected.

Evidence
    The answer was extracted and compared with the expected one, and they differ; the subject is how. The first false
    equation of the work is quoted where passes hardly ever hold one. Without an expected answer such an equation decides,
    if no pass of the run holds one.
Contradicted by
    Tasks whose passes differ from the expected answer as well.
False alarms
    Another way to write the expected answer.
Example
    Expected `42`, answered `41`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Differs, Sign
from blade.modes.compared import ANSWERS
from blade.modes.declaration import mode
from blade.modes.evidence import COMMON_IN_PASSES, Candidate, RolloutEvidence

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
    "answer:different": "",
}
"""Kinds of difference; that two values differ tells no more than the values."""


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
        shown = kind if kind is not None else evidence.sign("answer:passage")
        line = _telling_line(evidence)
        values = _values(shown) or ANSWERS[found.name]
        return Candidate(
            confidence=Confidence.PROVEN if found.name == "different" else Confidence.LIKELY,
            subject=KINDS[kind.kind] if kind is not None else "",
            signs=tuple(one for one in (line, shown) if one is not None),
            differences=(found,),
            contrast=f"{values}; the first false line of its work has `{line.subject}`" if line is not None else values,
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


def _telling_line(evidence: RolloutEvidence) -> Sign | None:
    """The first false equation of the work, where passes of the run hardly ever hold one."""
    false = evidence.sign("work:false-equation")
    if false is None:
        return None
    times, in_passes = (one.get(false.kind, 0) for one in (evidence.run.kind_rollouts, evidence.run.kind_passes))
    return false if in_passes <= COMMON_IN_PASSES * times else None


def _values(shown: Sign | None) -> str:
    """Expected against produced, where a sign holds both."""
    produced, bar, wanted = shown.subject.rpartition("|") if shown is not None else ("", "", "")
    if shown is None or not bar:
        return ""
    if shown.kind == "answer:passage":
        who = f"{produced} concludes" if produced else "the agent concludes"
        return f"expected `{wanted}`, which stands nowhere in the conclusion; {who} otherwise"
    return f"expected `{wanted}`, produced `{produced}`"
