"""The token limit cut the agent's output.

Evidence
    The model or the harness records that the limit of output tokens was reached.
Contradicted by
    An output that is complete although the limit is recorded.
False alarms
    A program that was handed in whole before the cut.
Example
    `"finish_reason": "length"`, and the answer stops in the middle of a sentence.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.model.finding import Cause
from blade.modes.compared import limited
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "token-limit",
    group="limit",
    order=320,
    party="limit",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Cut off by the token limit",
    title="The token limit cuts answers off ({subject})",
    action="Decide: raise the token limit for these tasks, or ask for shorter answers. Rerun a few with twice the limit to see which.",
    owner="harness",
)
def token_limit(evidence: RolloutEvidence) -> Candidate | None:
    return limited(evidence, "tokens", "agent:cut-by-tokens")
