"""The agent changed something that should not change.

Evidence
    A change that the expected actions do not hold, while every expected one was made or none was expected.
Contradicted by
    Passes that make the same change.
False alarms
    An expected answer that leaves out a harmless change.
Example
    `cancel_reservation` was called; the expected actions hold no change.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import only
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "action-extra",
    group="agent conduct",
    order=610,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Changed something that should not change",
    title="The agent calls `{subject}` where it should not",
    action="Before this call, have the agent state the facts and the rule that allow it; better, let the tool refuse where they do not hold.",
    owner="prompt",
)
def action_extra(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.UNWANTED) or (
        evidence.all_of(Differs.EXTRA) if only(evidence, Differs.EXTRA) else ()
    )
    if not found:
        return None
    name = found[0].name
    return Candidate(
        confidence=Confidence.PROVEN,
        subject=name,
        signs=tuple(one for one in evidence.of("action:extra") if one.subject == name),
        differences=found,
        contrast=f"`{name}` is not among the expected actions",
    )
