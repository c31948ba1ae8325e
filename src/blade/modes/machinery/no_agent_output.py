"""The agent neither said nor called anything, while it did in the other rollouts of the run.

Evidence
    The trajectory is there and empty, and nearly all other rollouts of the run have output. Or no rollout of the run has any, and those of other runs of the same tasks do.
Contradicted by
    A run whose harness does not record what the agent does; any output of the agent.
False alarms
    An agent that hands in a file without a word, where the harness records words only.
Example
    No output here; 171 of 171 other rollouts of the run have some.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import ENOUGH, USUAL, Candidate, RolloutEvidence


@mode(
    "no-agent-output",
    group="machinery",
    order=140,
    party="harness",
    stage=Stage.ENVIRONMENT_READY,
    valid=False,
    cause=Cause.INFRA,
    row="Agent produced nothing",
    title="The agent produces nothing at all",
    action="Look in the harness's log for why the agent did not start or was not asked, then rerun these rollouts.",
    owner="harness",
)
def no_agent_output(evidence: RolloutEvidence) -> Candidate | None:
    sign, run = evidence.sign("agent:no-output"), evidence.run
    if not evidence.silent and sign is None:
        return None
    if evidence.silent and not run.with_output and run.elsewhere >= ENOUGH:
        told = f"no rollout of this run has output; {run.elsewhere_with_output} of {run.elsewhere} of other runs of these tasks have some"
        if run.elsewhere_with_output >= USUAL * run.elsewhere and not run.kind_passes.get("agent:no-output", 0):
            return Candidate(confidence=Confidence.LIKELY, signs=(sign,) if sign is not None else (), contrast=told)
    if evidence.difference(Differs.NO_ANSWER, "thought", "declined") is not None or evidence.answer:
        return None
    others = run.rollouts - 1
    contrast = f"no output here; {run.with_output} of {others} other rollouts of this run have some"
    if others < ENOUGH or run.with_output < USUAL * others:
        often = others < ENOUGH or run.with_output * 2 < others or not evidence.silent
        return None if often else Candidate(confidence=Confidence.SUSPECTED, contrast=contrast, party="unknown")
    sure = Confidence.PROVEN if run.with_output == others else Confidence.LIKELY
    return Candidate(confidence=sure, signs=(sign,) if sign is not None else (), contrast=contrast)
