"""The limit of steps or turns ended the rollout.

Evidence
    The harness records that the limit of steps, turns or iterations was reached.
Contradicted by
    An end by the agent itself.
False alarms
    A simulated user who never stops talking uses up the turns.
Example
    `"stop": "max_turns"` after 30 turns.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.model.finding import Cause
from blade.modes.compared import limited
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "step-limit",
    group="limit",
    order=310,
    party="limit",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Ran out of steps",
    title="The step limit ends rollouts ({subject})",
    action="Decide: raise the limit of steps for these tasks, or tell the agent how many are left. Rerun a few with twice as many to see which.",
    owner="harness",
)
def step_limit(evidence: RolloutEvidence) -> Candidate | None:
    return limited(evidence, "steps")
