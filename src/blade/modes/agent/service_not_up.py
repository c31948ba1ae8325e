"""A service that the agent had to provide did not answer when it was graded.

Evidence
    The tests are refused on the port that the task names. It is the agent's doing where its calls use another port, or
    none of its own requests to that port is answered; suspected where it made none. Where the port answered the agent and is down in every
    rollout of the task, the harness is suspected of ending what the agent leaves running. Else nobody is charged.
Contradicted by
    A request of the tests that the service answered; a pass of the task with the same refusal.
False alarms
    A transcript whose beginning is cut off; a service that was asked by other means than a request on record.
Example
    `Server is not running on port 3000`, though the agent's own request had succeeded.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Responsible, Stage
from blade.model.finding import Cause, Sign
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
    elsewhere, answered = evidence.sign("service:elsewhere"), evidence.sign("service:answered")
    if elsewhere is not None:
        port, _, used = elsewhere.subject.partition("|")
        told = f"the tests ask for port {port}; the agent uses port {used}"
        return _by("agent", Confidence.LIKELY, told, sign, elsewhere)
    if (silent := evidence.sign("service:unanswered")) is not None:
        if silent.quote:
            return _by("agent", Confidence.LIKELY, "the port answered none of the agent's own requests", sign, silent)
        return _by("agent", Confidence.SUSPECTED, "the agent asked the port for nothing before it ended", sign)
    if answered is None:
        return _by(None, Confidence.LIKELY, "", sign)
    if evidence.failures_with(sign) < 2 or evidence.task.solved:
        return _by(None, Confidence.LIKELY, "the port answered the agent before", sign, answered)
    told = (
        f"the port answered the agent, and is down at grading in {evidence.failures_with(sign)} rollouts of this task"
    )
    return _by("harness", Confidence.SUSPECTED, told, sign, answered)


def _by(party: Responsible | None, sure: Confidence, told: str, *signs: Sign) -> Candidate:
    return Candidate(confidence=sure, subject=signs[0].subject, signs=signs, contrast=told, party=party)
