"""The agent program could not be installed or started, so the agent never ran.

Evidence
    The terminal reports the failed installation or that the agent's command does not exist, and the agent left no event.
Contradicted by
    Any event or tool call of the agent.
False alarms
    A task whose own output holds "command not found".
Example
    `bash: claude: command not found`, after the installation ran out of disk space.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "agent-not-installed",
    group="machinery",
    order=110,
    party="harness",
    stage=Stage.ENVIRONMENT_READY,
    valid=False,
    cause=Cause.INFRA,
    row="Agent program never started",
    title="The agent program never starts",
    action="Repair the installation of the agent in these images (see the quoted error), and stop a trial whose agent does not start.",
    owner="harness",
)
def agent_not_installed(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("agent:install-failed", "agent:no-start")
    if sign is None or evidence.calls:
        return None
    return Candidate(
        confidence=evidence.strength(sign),
        subject=sign.subject,
        signs=tuple(evidence.of("agent:install-failed", "agent:no-start")),
    )
