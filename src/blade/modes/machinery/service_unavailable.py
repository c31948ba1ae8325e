"""A site, service, port or download that the task needs could not be reached.

Evidence
    The agent or the tests were refused by a host that the task names, and nothing in the rollout shows that host answering. The same host fails in another run, or in the agent's own requests and in the tests. A port of the machine itself that breaks the connection off in several runs is held by another program.
Contradicted by
    A successful answer of the same host in the same trial, or a pass with the same failure.
False alarms
    A service that the agent itself had to start, or a wrong address.
Example
    `assert 502 == 200` for `http://api:8000`, which answered no request in any run.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "service-unavailable",
    group="machinery",
    order=170,
    party="environment",
    stage=Stage.AGENT_FINISHED,
    valid=False,
    cause=Cause.INFRA,
    row="Service, port or download unreachable",
    title="A service that the task needs cannot be reached: {subject}",
    action="Make the service reachable from the sandbox (own network per trial, proxy exceptions, a mirror for downloads), and rerun these rollouts.",
    owner="harness",
)
def service_unavailable(evidence: RolloutEvidence) -> Candidate | None:
    signs = tuple(evidence.of("service:unreachable"))
    if signs and not evidence.passes_with(signs[0]):
        several = len(signs) > 1 or evidence.failures_with(signs[0]) > 1 or "INF004" in evidence.fired
        sure = Confidence.LIKELY if several else Confidence.SUSPECTED
        return Candidate(confidence=sure, subject=signs[0].subject, signs=signs, contrast=evidence.contrast(signs[0]))
    reset = evidence.sign("service:reset")
    if reset is not None and evidence.runs_with(reset) > 1 and not evidence.task.solved:
        told = f"the port breaks the connection off in {evidence.failures_with(reset)} rollouts of this task, in several runs, and none passes"
        return Candidate(confidence=Confidence.LIKELY, subject=reset.subject, signs=(reset,), contrast=told)
    if "INF002" in evidence.fired and evidence.difference(Differs.NOT_MADE) is not None:
        told = "a tool turned the agent away for too many requests and never worked again; no required change was made"
        return Candidate(confidence=Confidence.LIKELY, subject="too many requests", contrast=told)
    if "INF004" in evidence.fired:
        return Candidate(
            confidence=Confidence.LIKELY,
            contrast="the backend of a tool reports that it does not work",
            party="environment",
        )
    said = evidence.sign("ends:blocked")
    if said is None or evidence.task.solved:
        return None
    told = "the agent says that a site does not serve it; nothing else in the rollout shows it"
    return Candidate(confidence=Confidence.SUSPECTED, signs=(said,), contrast=told, party="environment")
