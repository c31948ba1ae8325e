"""The model's last reply was empty, and the session ended in the middle of the work.

Evidence
    After calls, the last message of the agent holds not one word, and what the task asks for is not there, nothing of it holds, or items of the agent's own list are open. Passes of the run end in words.
Contradicted by
    Passes that end so too: then it is how the harness records an end.
False alarms
    An agent that is done and has nothing to add.
Example
    The last turn has 0 output tokens right after the result of a call, in 36 of 43 failures; `/app/move.txt` was never written.
Checked on
    A run of 46 trials of Harbor, read by hand: 20 of 20 sessions stop in the middle of the work.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.modes.declaration import mode
from blade.modes.evidence import COMMON_IN_PASSES, FEWEST_ALIKE, Candidate, RolloutEvidence


@mode(
    "empty-reply",
    group="agent conduct",
    order=509,
    party="unknown",
    stage=Stage.AGENT_ACTED,
    row="Session ended on an empty reply",
    title="The model replies with nothing, and the session ends",
    action="Look at the last response of the serving stack (output tokens, stop reason), and have the harness ask again after an empty turn; then rerun these rollouts.",
    owner="harness",
)
def empty_reply(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("ends:without-a-word")
    if sign is None or not evidence.calls:
        return None
    rollouts, passes = (counts.get(sign.kind, 0) for counts in (evidence.run.kind_rollouts, evidence.run.kind_passes))
    absent = evidence.sign("missing:named-in-prompt", "ends:open-todos")
    # What the agent's own code raises was written before the end, and explains the failure better.
    undone = absent is not None or (not evidence.checks_met and evidence.sign("frame:solution") is None)
    told = f"{rollouts} of {evidence.run.rollouts} rollouts of this run end on an empty reply, {passes} of them pass"
    alike = rollouts >= FEWEST_ALIKE and passes <= COMMON_IN_PASSES * rollouts
    # Where half of the passes end so, it is how this harness ends.
    if not undone or not alike or passes * 2 >= max(1, evidence.run.passes):
        return Candidate(confidence=Confidence.SUSPECTED, signs=(sign,), contrast=told, flag=True)
    return Candidate(
        confidence=Confidence.LIKELY, signs=(sign, *((absent,) if absent is not None else ())), contrast=told
    )
