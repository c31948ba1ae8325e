"""Several things differ from the expected actions: changes missing, extra, or with other arguments.

Evidence
    Two or more kinds of difference between the calls made and the calls expected.
Contradicted by
    Passes with the same differences.
False alarms
    One wrong object, which shows as a call missing and another one extra.
Example
    `book` with another payment, and `cancel` missing.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.compared import MIXED, counted
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "several-action-errors",
    group="agent conduct",
    order=630,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Several actions wrong",
    title="Several actions differ from the expected ones",
    action="Read these rollouts from the first call that differs: what follows is often its consequence.",
    owner="prompt",
)
def several_action_errors(evidence: RolloutEvidence) -> Candidate | None:
    found = tuple(one for kind in MIXED for one in evidence.all_of(kind))
    kinds = {one.kind for one in found}
    if len(kinds) < 2:
        return None
    calls = sorted((one for one in evidence.of("action:") if one.quote), key=lambda one: one.step or 0)
    return Candidate(confidence=Confidence.PROVEN, signs=tuple(calls), differences=found, contrast=counted(found))
