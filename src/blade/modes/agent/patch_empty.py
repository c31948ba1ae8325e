"""The agent handed in no patch where one was required.

Evidence
    The patch of the row is empty, or nothing was handed in where nearly all others hand in a patch.
Contradicted by
    A patch elsewhere in the row.
False alarms
    A harness that collects the patch from the wrong folder: then all rollouts have none.
Example
    `"model_patch": ""`.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "patch-empty",
    group="agent conduct",
    order=500,
    party="agent",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.BEHAVIOR,
    row="No patch handed in",
    title="No patch is handed in",
    action="Have the harness refuse an end without a patch, and say so to the agent.",
    owner="prompt",
)
def patch_empty(evidence: RolloutEvidence) -> Candidate | None:
    sign, absent = evidence.sign("patch:empty"), evidence.difference(Differs.NO_ANSWER, "patch")
    if sign is None and absent is None and evidence.run.answers_are_patches and evidence.judged and not evidence.answer:
        told = "nothing was handed in here; the other rollouts of this run hand in a patch"
        return Candidate(confidence=Confidence.LIKELY, contrast=told)
    if sign is None and absent is None:
        return None
    return Candidate(
        confidence=Confidence.PROVEN,
        signs=(sign,) if sign else (),
        differences=(absent,) if absent else (),
        contrast=f"`{sign.subject}`, which holds the agent's patch, is empty" if sign else "",
    )
