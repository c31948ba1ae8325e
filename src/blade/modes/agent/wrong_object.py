"""The right call was made on another object than expected.

Evidence
    The tools called are the expected ones, and the first id of a call is another one.
Contradicted by
    Passes with the same difference; other differences in the same rollout.
False alarms
    Two objects of which either would do.
Example
    `cancel_order.order_id` is another order of the same customer.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.modes.compared import made_up
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

ALONGSIDE = ("action:wrong-object", "action:wrong-order")
"""Other differences from the expected actions say more than the object of one call."""


@mode(
    "wrong-object",
    group="agent conduct",
    order=605,
    party="agent",
    stage=Stage.GRADED,
    row="Acted on the wrong object",
    title="`{subject}` names the wrong object",
    action="Before this call, have the agent name the object and the words of the request that point to it.",
    owner="prompt",
)
def wrong_object(evidence: RolloutEvidence) -> Candidate | None:
    found = tuple(evidence.of("action:wrong-object"))
    if not found or any(one.kind not in ALONGSIDE for one in evidence.of("action:")):
        return None
    if evidence.passes_with(found[0]):
        return None
    told = f"the calls are the expected ones, and `{found[0].subject}` names another object{made_up(evidence)}"
    return Candidate(confidence=Confidence.LIKELY, subject=found[0].subject, signs=found, contrast=told)
