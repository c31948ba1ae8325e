"""The environment that the task needs was never there: its sandbox or container did not start.

Evidence
    The harness reports it before the agent's first action.
Contradicted by
    A tool call that the environment answered.
False alarms
    A task that asks the agent to start a container of its own.
Example
    "failed to start container: no such image" in a rollout without a single tool call.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "environment-failed",
    group="machinery",
    order=105,
    party="environment",
    stage=Stage.NOT_RUN,
    valid=False,
    cause=Cause.INFRA,
    row="Environment never started",
    title="The environment never started",
    action="Repair the image or the sandbox, then rerun these rollouts.",
    owner="harness",
)
def environment_failed(evidence: RolloutEvidence) -> Candidate | None:
    if "INF005" not in evidence.fired:
        return None
    return Candidate(
        confidence=Confidence.LIKELY, contrast="the sandbox is reported as not started, and no tool answered"
    )
