"""The harness recorded an error for the rollout, and nothing was graded.

Evidence
    The row is recorded as errored, with the class of the error where the harness names it.
Contradicted by
    A verdict, or an error that stands for a limit.
False alarms
    A harness that records a wrong answer as an error.
Example
    `DockerException` in the row's error field, and no reward.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import named_limit, of_grader
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "run-error",
    group="machinery",
    order=160,
    party="harness",
    stage=Stage.AGENT_STARTED,
    valid=False,
    cause=Cause.INFRA,
    row="Harness recorded an error",
    title="The harness records an error: {subject}",
    action="Repair what the harness names, and rerun these rollouts: they have no verdict.",
    owner="harness",
)
def run_error(evidence: RolloutEvidence) -> Candidate | None:
    cut = evidence.sign(*(f"agent:cut-by-{limit}" for limit in ("time", "steps", "tokens", "memory")))
    if cut is not None and not evidence.is_usual_status(cut):
        return None
    machinery = evidence.difference(Differs.ERROR)
    if machinery is not None and not of_grader(machinery.detail):
        sign = evidence.sign("broke:harness")
        signs = (sign,) if sign is not None else ()
        return Candidate(confidence=Confidence.LIKELY, subject=machinery.detail, signs=signs, differences=(machinery,))
    if named_limit(evidence) or evidence.difference(Differs.CUT) is not None or of_grader(evidence.error_class):
        return None
    if evidence.silent and "INF001" in evidence.fired:
        told = "the harness records an error, and the agent neither says nor calls anything"
        return Candidate(confidence=Confidence.LIKELY, subject=evidence.error_class or "", contrast=told)
    if evidence.outcome != "errored":
        return None
    return Candidate(
        # That it failed is stated; whose failure it was, the class of an error only hints at.
        confidence=Confidence.LIKELY,
        subject=evidence.error_class or "",
        contrast=f"recorded as errored{f': {evidence.error_class}' if evidence.error_class else ''}, without a verdict",
    )
