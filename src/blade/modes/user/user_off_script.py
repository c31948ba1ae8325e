"""The simulated user gave a fact that its script does not hold.

Evidence
    The user gives an id that neither its script nor anybody before it names, and the actions differ from the expected ones.
Contradicted by
    A run in which users of passes invent ids as often.
False alarms
    An id that the script gives in other words.
Example
    The user gives the order `HG000001`; its script holds no order.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.compared import acts_differ
from blade.modes.declaration import mode
from blade.modes.evidence import COMMON_IN_PASSES, Candidate, RolloutEvidence


@mode(
    "user-off-script",
    group="user simulator",
    order=420,
    party="user_simulator",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Simulated user left its script",
    title="The simulated user gives what its script does not hold: {subject}",
    action="Instruct the simulated user to give only facts of its script, then rerun these tasks.",
    owner="user simulator",
)
def user_off_script(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("user:off-script")
    if sign is None or not acts_differ(evidence):
        return None
    rollouts, passes = (counts.get(sign.kind, 0) for counts in (evidence.run.kind_rollouts, evidence.run.kind_passes))
    told = f"`{sign.subject}` stands neither in the user's script nor anywhere before"
    if passes > COMMON_IN_PASSES * max(1, rollouts):
        return Candidate(confidence=Confidence.SUSPECTED, subject=sign.subject, signs=(sign,), contrast=told, flag=True)
    return Candidate(confidence=Confidence.SUSPECTED, subject=sign.subject, signs=(sign,), contrast=told)
