"""The test wants something that the prompt does not say.

Evidence
    A path, key or literal that the test looks for stands nowhere in the prompt, every rollout of the task fails on it, and nobody passes the task.
    Suspected where different models fail one test with the same value: the prompt may allow a second reading.
Contradicted by
    A pass of the task in any run.
False alarms
    Names that a format or a tool implies, or that a file which the agent could read holds. A mistake
    that two models share.
Example
    The test opens `/app/results.txt`, which the prompt never names.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "hidden-requirement",
    group="benchmark",
    order=220,
    party="task",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Test wants what the prompt does not say",
    title="The test wants something that the prompt does not say: {subject}",
    action="State the requirement in the prompt, or drop it from the test; then rerun these tasks.",
    owner="task author",
)
def hidden_requirement(evidence: RolloutEvidence) -> Candidate | None:
    if evidence.task.solved:
        return None
    sign = evidence.sign("missing:not-in-prompt", "key:not-in-prompt", "literal:not-in-prompt")
    if sign is not None:
        alike = evidence.failures_with(sign)
        sure = Confidence.LIKELY if alike > 1 and sign.kind != "literal:not-in-prompt" else Confidence.SUSPECTED
        return Candidate(
            confidence=sure,
            subject=sign.subject,
            signs=(sign,),
            contrast=f"{alike} rollout{'s' if alike > 1 else ''} of this task fail on it, and none passes",
        )
    alike_wrong = next((one for one in evidence.of("test:wrong-value") if evidence.runs_with(one) > 1), None)
    if alike_wrong is not None:
        told = f"{evidence.runs_with(alike_wrong)} runs fail this test with one and the same value, and none passes"
        name = alike_wrong.subject.rpartition(" ")[0]
        return Candidate(confidence=Confidence.SUSPECTED, subject=name, signs=(alike_wrong,), contrast=told)
    doubt = evidence.doubt("TSK007")
    if doubt is None or not doubt.named:
        return None
    return Candidate(confidence=Confidence.SUSPECTED, contrast=doubt.message, flag=True)
