"""The grader started and did not end.

Evidence
    The harness records that the grader ran out of time, or its log stops in the middle of a session.
Contradicted by
    A verdict that the grader reached.
False alarms
    Tests that wait for what the agent built: a hang may be the agent's doing, so this alone is only suspected.
Example
    `VerifierTimeoutError`, and the log stops at `collecting ...`.
"""

from __future__ import annotations

from blade.evidence.differences import limit_word
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import of_grader
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "grader-hung",
    group="machinery",
    order=185,
    party="verifier",
    stage=Stage.AGENT_FINISHED,
    valid=False,
    cause=Cause.INFRA,
    row="Grader did not finish",
    title="The grader does not finish",
    action="Give each test a time limit of its own, so that one hanging test fails alone; then grade these rollouts again.",
    owner="test author",
)
def grader_hung(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("log:not-finished")
    words = [evidence.error_class, evidence.stop] if evidence.outcome != "failed" else []
    # A reward of 0 without a single check may be what the harness writes where its grader ran out of time.
    words += [one.subject for one in evidence.of("status")] if not evidence.checks_asked else []
    recorded = next((word for word in words if word and of_grader(word) and limit_word(word) == "time"), None)
    if recorded is not None:
        return Candidate(
            confidence=Confidence.LIKELY,
            signs=(sign,) if sign else tuple(one for one in evidence.of("status") if one.subject == recorded),
            contrast=f"recorded as {recorded}, without a verdict",
        )
    if sign is None or evidence.passes_with(sign) or evidence.difference(Differs.CUT) is not None:
        return None
    return Candidate(
        confidence=Confidence.SUSPECTED, signs=(sign,), contrast="the log of the tests stops before their summary"
    )
