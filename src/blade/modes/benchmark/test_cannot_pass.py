"""A test fails for a reason of its own, so that no solution can pass it.

Evidence
    The tests raise while they are loaded, in their own code, or a tool rejects an argument that the test gave it; a test
    does not find a file of its own folder, or a package that neither the prompt nor the agent names; a test uses a name that nobody defined. Nobody passes the task.
    Suspected where one test breaks in its own code with the same words in every rollout, whatever was handed in.
Contradicted by
    A pass of the task in any run.
False alarms
    Test code that reads the agent's output while it is loaded: then the output may be at fault, so other exceptions than
    those of the language itself are only suspected, and nobody is charged. A test that runs the agent's code inside its own.
Example
    `TypeError: bad operand type for unary +: 'str'` on import of the test file, in both runs.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import FEWEST_ALIKE, Candidate, RolloutEvidence

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
    if (broken := _of_one_test(evidence)) is not None:
        return broken
    doubt = evidence.doubt("TSK013")
    if doubt is not None:
        return Candidate(confidence=Confidence.LIKELY if doubt.named else Confidence.SUSPECTED, contrast=doubt.message)
    return None


def _of_one_test(evidence: RolloutEvidence) -> Candidate | None:
    """One test breaks for reasons of its own, and others may hold."""
    lost = evidence.sign("missing:of-the-grader") or evidence.sign("missing:library")
    raised = evidence.sign("test:raised")
    own = lost if lost is not None else raised if raised is not None and raised.subject.startswith(OWN) else None
    if own is not None:
        alike = evidence.failures_with(own)
        told = f"{alike} rollout{'s' if alike > 1 else ''} of this task fail on it, and none passes"
        sure = Confidence.LIKELY if alike > 1 else Confidence.SUSPECTED
        return Candidate(confidence=sure, subject=own.subject.removeprefix(OWN), signs=(own,), contrast=told)
    if raised is None or evidence.failures_with(raised) < FEWEST_ALIKE:
        return None
    if evidence.task.answers < FEWEST_ANSWERS and evidence.runs_with(raised) == 1:
        return None
    told = f"the test breaks with the same words in {evidence.failures_with(raised)} rollouts of this task, whatever was handed in"
    return Candidate(confidence=Confidence.SUSPECTED, subject=raised.subject, signs=(raised,), contrast=told)


OWN = "own: "
"""How the subject of a sign begins whose exception needs nothing of what the agent left."""
FEWEST_ANSWERS = 2
"""Different answers with which a test breaks in the same way, so that it is none of them."""
