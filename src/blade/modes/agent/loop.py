"""The agent repeated one call and delivered nothing.

Evidence
    The same call, or nearly the same command, again and again, and what the task asks for is not there.
Contradicted by
    A check that holds; a claim of success. With anything delivered the loop is a symptom and decides nothing.
False alarms
    Polling a slow program.
Example
    `sed -n 262,270p data/notes.txt` with other numbers in 40 of 52 calls, and no output file.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "loop",
    group="agent conduct",
    order=535,
    party="agent",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.BEHAVIOR,
    row="Repeated itself and delivered nothing",
    title="The agent repeats itself and delivers nothing ({subject})",
    action="Have the harness tell the agent that it repeats a call, and what that call returned.",
    owner="harness",
)
def loop(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("loop")
    if sign is None and "BEH001" not in evidence.fired:
        return None
    nothing = evidence.sign("missing:named-in-prompt") or evidence.difference(Differs.NO_ANSWER)
    if sign is not None and nothing is None:  # a call repeated three times in passing is no loop
        nothing = evidence.difference(Differs.NOT_MADE)
    if nothing is None or evidence.checks_met or evidence.sign("ends:success-claim") is not None:
        return Candidate(confidence=Confidence.SUSPECTED, signs=(sign,) if sign else (), flag=True)
    told = "the same call is repeated to the end, and nothing was delivered"
    subject = sign.subject if sign is not None else ""
    return Candidate(confidence=Confidence.LIKELY, subject=subject, signs=(sign,) if sign else (), contrast=told)
