"""A service that the agent had to provide did not answer when it was graded.

Evidence
    The tests are refused on the port that the task names. Who ended the service is not shown, so nobody is charged.
Contradicted by
    A request of the tests that the service answered.
False alarms
    A service that was started on another port than the prompt says.
Example
    `Server is not running on port 3000`, though the agent's own request had succeeded.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "service-not-up",
    group="agent conduct",
    order=545,
    party="unknown",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Service down at grading",
    title="The service does not answer at grading: {subject}",
    action="Find out whether background services survive the end of the agent's session in this harness; then tell the agent how to keep one alive.",
    owner="harness",
)
def service_not_up(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("service:down-at-grading")
    if sign is None or evidence.passes_with(sign):
        return None
    return Candidate(confidence=Confidence.LIKELY, subject=sign.subject, signs=(sign,))
