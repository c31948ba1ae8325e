"""The environment that the task needs was not there: its sandbox or container did not start, or was lost.

Evidence
    The harness reports it before the agent's first action, or a status that no pass has says that it was lost. Or the last
    commands, unlike each other, all got the very words that the harness records.
Contradicted by
    A tool call that the environment answered.
False alarms
    A task that asks the agent to start a container of its own. A status about the machine of the grader.
Example
    "failed to start container: no such image" in a rollout without a single tool call.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.modes.compared import of_grader
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

_LOST = pattern_of(
    r"(?i)(?:\b|_)(?:sandbox|container|docker|env|environment|image|pod|vm|machine|host)(?:[\W_]|[\W_].{0,40}[\W_])(?:lost|failed?|failure|died|dead|crash\w*|error|unavailable|not start\w*|closed|unreachable|killed|evicted|gone|exited|terminated|disconnected|destroyed|preempted)(?:\b|_)"
)
"""How a harness says in a status that the environment is gone."""


@mode(
    "environment-failed",
    group="machinery",
    order=105,
    party="environment",
    stage=Stage.NOT_RUN,
    valid=False,
    cause=Cause.INFRA,
    row="Environment failed",
    title="The environment never starts, or is lost",
    action="Repair the image or the sandbox, then rerun these rollouts.",
    owner="harness",
)
def environment_failed(evidence: RolloutEvidence) -> Candidate | None:
    lost = next(
        (one for one in evidence.of("status") if _LOST.search(one.subject) and not of_grader(one.subject)), None
    )
    if lost is not None and not evidence.alike(lost)[1]:
        told = evidence.contrast(lost)
        return Candidate(confidence=Confidence.LIKELY, subject=lost.subject, signs=(lost,), contrast=told)
    reported = evidence.sign("environment:failed")
    if reported is not None and not evidence.passes_with(reported):
        told = "a builder or scheduler reports it, and the agent did nothing"
        return Candidate(confidence=Confidence.LIKELY, signs=(reported,), contrast=told)
    gone = evidence.sign("environment:lost")
    if gone is not None:
        told = (
            "the last commands, unlike each other, all got these words for an answer, and the harness records them too"
        )
        return Candidate(confidence=Confidence.LIKELY, subject=gone.subject, signs=(gone,), contrast=told)
    if "INF005" not in evidence.fired:
        return None
    return Candidate(
        confidence=Confidence.LIKELY, contrast="the sandbox is reported as not started, and no tool answered"
    )
