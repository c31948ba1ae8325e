"""The rollout was expected, and the files hold no row for it.

Evidence
    The run says how many rollouts each task should have, and this one is absent.
Contradicted by
    Nothing: the row is there or it is not.
False alarms
    A run that was stopped on purpose, or a sidecar that describes another run.
Example
    `tickets-2#3` is expected by the inputs file, and no rollouts file has it.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "missing-row",
    group="machinery",
    order=100,
    party="harness",
    stage=Stage.NOT_RUN,
    valid=False,
    cause=Cause.INFRA,
    row="Rollout missing from the files",
    title="Rollouts are missing from the files",
    action="Run the missing rollouts, or find out why the harness dropped them.",
    owner="harness",
)
def missing_row(evidence: RolloutEvidence) -> Candidate | None:
    if evidence.outcome != "missing":
        return None
    return Candidate(confidence=Confidence.PROVEN, contrast="expected, and no row of the files holds it")
