"""A test fails for a reason of its own, so that no solution can pass it.

Evidence
    The tests raise while they are loaded, in their own code, or a tool rejects an argument that the test gave it; nobody passes the task.
Contradicted by
    A pass of the task in any run.
False alarms
    Test code that reads the agent's output while it is loaded: then the output may be at fault, so other exceptions than
    those of the language itself are only suspected, and nobody is charged.
Example
    `TypeError: bad operand type for unary +: 'str'` on import of the test file, in both runs.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

OF_THE_LANGUAGE = ("SyntaxError", "IndentationError", "NameError", "UnboundLocalError", "TypeError")
"""Exceptions that need no data to be raised: others may come of what the agent left, which the test reads on import."""


@mode(
    "test-cannot-pass",
    group="benchmark",
    order=200,
    party="verifier",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.TASK,
    row="Test cannot pass",
    title="A test cannot pass: {subject}",
    action="Correct the test (the error is quoted), then grade these rollouts again.",
    owner="test author",
)
def test_cannot_pass(evidence: RolloutEvidence) -> Candidate | None:
    if evidence.task.solved:
        return None
    loading, own = evidence.sign("log:collection-error"), evidence.sign("frame:test")
    rejected = evidence.sign("log:usage-error")
    if rejected is not None:
        own = loading = rejected
    if loading is not None and own is not None and rejected is None and own.subject not in OF_THE_LANGUAGE:
        return Candidate(confidence=Confidence.SUSPECTED, subject=own.subject, signs=(own,), party="unknown")
    if loading is not None and own is not None:
        sure = Confidence.PROVEN if evidence.runs_with(own) > 1 and rejected is None else Confidence.LIKELY
        return Candidate(confidence=sure, subject=own.subject, signs=(own,), contrast=evidence.contrast(own))
    doubt = evidence.doubt("TSK013")
    if doubt is not None:
        return Candidate(confidence=Confidence.LIKELY if doubt.named else Confidence.SUSPECTED, contrast=doubt.message)
    return None
