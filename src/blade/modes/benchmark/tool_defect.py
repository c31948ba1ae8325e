"""A tool reports success and does not do what it was asked to do.

Evidence
    The tool's results show the old value of a field that the call was to change. It decides where the rollout differs from
    the expected actions in nothing else, and no pass shows the same; beside other differences it is a flag.
Contradicted by
    A call of the same tool whose result shows the new value.
False alarms
    A tool that answers with the state before the call.
Example
    48 of 48 calls of `update_flights` return the old cabin.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import acts_differ
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "tool-defect",
    group="benchmark",
    order=260,
    party="tool",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Tool does not do what it reports",
    title="A tool reports success and changes nothing",
    action="Correct the tool, then rerun the tasks that call it.",
    owner="tool author",
)
def tool_defect(evidence: RolloutEvidence) -> Candidate | None:
    if (alone := _nothing_else(evidence)) is not None:
        return alone
    doubt = evidence.doubt("TSK002")
    if doubt is None or not doubt.named:
        return None
    return Candidate(confidence=Confidence.SUSPECTED, contrast=doubt.message, flag=True)


def _nothing_else(evidence: RolloutEvidence) -> Candidate | None:
    """All that is expected was done, and what a tool showed after a change is the old value: the state cannot be right."""
    sign = evidence.sign("tool:old-value")
    if sign is None or not evidence.judged or evidence.alike(sign)[1] or evidence.passes_with(sign):
        return None
    if acts_differ(evidence) or evidence.difference(Differs.NOT_SAID) or evidence.difference(Differs.CUT):
        return None
    told = f"every expected call was made, and after `{sign.subject}` the tool still shows the old value"
    return Candidate(confidence=Confidence.LIKELY, subject=sign.subject, signs=(sign,), contrast=told)
