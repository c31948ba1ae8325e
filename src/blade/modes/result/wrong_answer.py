"""The answer is another one than expected.

Evidence
    The answer was extracted and compared with the expected one, and they differ; the subject is how. Or the work holds a
    false equation, and hardly a pass of the run does: its first is quoted.
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
    "answer:different": "",
}
"""Kinds of difference; that two values differ tells no more than the values."""
FALSE = "a false equation"
SELDOM = 0.1
"""Share of passes with a false equation above which such lines are how the work of this run is written."""


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
    false = _false_equation(evidence)
    # An answer that holds the expected one is right; where a criterion fails, that is why it was rejected.
    explained = found is not None and found.name != "different" and evidence.difference(Differs.CHECK) is not None
    if found is not None and not explained:
        kind = next((one for one in evidence.of("answer:") if one.kind in KINDS), None)
        shown = kind if kind is not None else evidence.sign("answer:other", "answer:passage")
        told = _values(shown) or ANSWERS[found.name]
        return Candidate(
            confidence=Confidence.PROVEN if found.name == "different" else Confidence.LIKELY,
            # Where the work goes wrong tells more than how far off its result is.
            subject=FALSE if false is not None else KINDS[kind.kind] if kind is not None else "",
            signs=tuple(one for one in (false, shown) if one is not None),
            differences=(found,),
            contrast=f"{told}; {_is_false(evidence, false)}" if false is not None else told,
        )
    if false is not None and evidence.judged and evidence.run.passes:
        told = _is_false(evidence, false)
        return Candidate(confidence=Confidence.LIKELY, subject=FALSE, signs=(false,), contrast=told)
    if not evidence.judged or not evidence.answer or not evidence.expects_answer:
        return None
    if evidence.sign("judge:reason") is not None:
        return None  # a judge says more
    named = evidence.difference(Differs.CHECK)
    if named is not None or evidence.sign("log:test-failed") is not None:
        return None
    return Candidate(confidence=Confidence.LIKELY, contrast="an answer was taken from the output and rejected")


def _false_equation(evidence: RolloutEvidence) -> Sign | None:
    """The first false equation of the work, where hardly a pass of the run holds one."""
    found = evidence.sign("work:false-equation")
    if found is None or evidence.run.kind_passes.get(found.kind, 0) > SELDOM * evidence.run.passes:
        return None
    return found


def _is_false(evidence: RolloutEvidence, false: Sign) -> str:
    if not evidence.run.passes:
        return f"`{false.subject}` is false"
    passes = evidence.run.kind_passes.get(false.kind, 0)
    others = f"{passes} of {evidence.run.passes} passes hold" if passes else "no pass of this run holds"
    return f"`{false.subject}` is false; {others} a false equation"


def _values(shown: Sign | None) -> str:
    """Expected against produced, where a sign holds both."""
    produced, bar, wanted = shown.subject.rpartition("|") if shown is not None else ("", "", "")
    if shown is None or not bar:
        return ""
    if shown.kind == "answer:passage" and not shown.quote:
        who = f" by {produced}" if produced else ""
        return f"expected `{wanted}`, which stands nowhere in the last words{who}"
    if shown.kind == "answer:passage":
        who = f"{produced} concludes" if produced else "the agent concludes"
        return f"expected `{wanted}`, which stands nowhere in the conclusion; {who} otherwise"
    return f"expected `{wanted}`, produced `{produced}`"
