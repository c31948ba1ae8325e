"""The memory limit ended the rollout or the program that was handed in.

Evidence
    The harness records that memory ran out.
Contradicted by
    An end by the agent itself.
False alarms
    A test that starves every solution.
Example
    `"error_kind": "memory_limit_exceeded"`.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.model.finding import Cause
from blade.modes.compared import limited
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "memory-limit",
    group="limit",
    order=330,
    party="limit",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Ran out of memory",
    title="The memory limit ends rollouts ({subject})",
    action="Decide: raise the memory limit for these tasks, or ask for a solution that needs less.",
    owner="harness",
)
def memory_limit(evidence: RolloutEvidence) -> Candidate | None:
    return limited(evidence, "memory", "agent:cut-by-memory")
