"""The grader raised an error in its own code, and gave no verdict on what the agent left.

Evidence
    The grader's account says that it failed itself, or every test that was run breaks on one and the same error of the
    grader's own code, in several rollouts of the task, so that no test says anything of what was handed in. Or all tests
    of all rollouts of the task lack one package that neither the prompt nor the agent names.
Contradicted by
    A pass of the task; a verdict beside the error; a test that holds or fails otherwise.
False alarms
    An error about what was handed in, which a grader may report as its own.
Example
    `"error": "evaluator exception"` in the account of a rollout that counts as failed.
"""

from __future__ import annotations

from blade.evidence.differences import UNDECIDED
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import of_grader
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "grader-crashed",
    group="machinery",
    order=190,
    party="verifier",
    stage=Stage.AGENT_FINISHED,
    valid=False,
    cause=Cause.TASK,
    row="Grader failed in its own code",
    title="The grader fails in its own code: {subject}",
    action="Fix the grader's error (quoted), have it report an error in place of a reward, and grade these rollouts again.",
    owner="test author",
)
def grader_crashed(evidence: RolloutEvidence) -> Candidate | None:
    own = next((one for one in evidence.all_of(Differs.NO_RECORD) if one.detail not in ("", UNDECIDED)), None)
    if own is not None:
        told = evidence.sign("broke:grader")
        signs = (told,) if told is not None else ()
        return Candidate(confidence=Confidence.LIKELY, subject=own.detail, signs=signs, differences=(own,))
    if (broken := _in_every_test(evidence)) is not None:
        return broken
    if evidence.outcome == "failed" or not of_grader(evidence.error_class):
        return None
    return Candidate(
        confidence=Confidence.LIKELY,
        subject=evidence.error_class or "",
        contrast=f"recorded as {evidence.error_class}, without a verdict",
    )


def _in_every_test(evidence: RolloutEvidence) -> Candidate | None:
    """Every test breaks on one error of the grader, or on a package that neither the prompt nor the agent names."""
    held = evidence.checks_met or evidence.sign("log:test-passed") is not None
    sign = evidence.sign("grader:own-error") or evidence.sign("missing:library")
    if sign is None or held or evidence.task.solved or not evidence.judged:
        return None
    alike = evidence.failures_with(sign)
    if sign.kind == "missing:library" and alike < max(2, evidence.task.judged):
        return None  # one that only some rollouts lack is theirs
    told = f"every test breaks on it, in {alike} rollout{'s' if alike > 1 else ''} of this task; none passes"
    subject = f"no package `{sign.subject}`" if sign.kind == "missing:library" else sign.subject
    sure = Confidence.LIKELY if alike > 1 else Confidence.SUSPECTED
    return Candidate(confidence=sure, subject=subject, signs=(sign,), contrast=told)
