"""The grader did not start, so the verdict measures nothing that the agent did.

Evidence
    The grader's log shows no test session, and the step that prepares it failed. The same in several rollouts of the
    run, while most have a session, makes it likely whatever the task; where one and the same command of the grader is
    not there in several tasks, it is proven. Or the row says that what the grader needs, such as a judge's endpoint,
    could not be reached, or that the grader could not be started.
Contradicted by
    A pass of the same task with the same log; a test result of any kind.
False alarms
    Tests that need what the agent was asked to repair: then the failure is the agent's.
Example
    The tests' own installation stops with "no space left on device", and no test is collected.
Checked on
    A run of 46 trials of Harbor: in 13 of 13 the log ends where the program that runs the tests is not found, and no test
    result follows.
"""

from __future__ import annotations

from blade.ingest.roles.breakdowns import MACHINERY
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Sign
from blade.model.pattern import pattern_of
from blade.modes.compared import of_grader
from blade.modes.declaration import mode
from blade.modes.evidence import FEWEST_ALIKE, Candidate, RolloutEvidence

_JUDGE = pattern_of(r"(?i)judge")
"""A judge is a model behind an endpoint; an error that only names it says nothing of the grader's code."""

_NOT_STARTED = pattern_of(
    r"(?i)\b(?:could|did|can|was|were)(?:n't| not)\b|\bcannot\b|\b(?:unable|failed) to (?:start|pull|create|launch|build|schedule|begin|run)\b"
    r"|\bnever (?:started|ran)\b|\bnot[ _]?started\b"
)


@mode(
    "grader-did-not-run",
    group="machinery",
    order=180,
    party="verifier",
    stage=Stage.AGENT_FINISHED,
    valid=False,
    cause=Cause.INFRA,
    row="Grader did not run",
    title="The grader does not run: {subject}",
    action="Repair the step that prepares the grader (quoted), grade again what the agents left, and report a missing test session as an error.",
    owner="harness",
)
def grader_did_not_run(evidence: RolloutEvidence) -> Candidate | None:
    if (broke := _recorded(evidence)) is not None:
        told = evidence.contrast(broke)
        return Candidate(confidence=Confidence.LIKELY, subject=broke.subject, signs=(broke,), contrast=told)
    if evidence.outcome == "errored" and _JUDGE.search(evidence.error_class or ""):
        return Candidate(
            confidence=Confidence.LIKELY,
            subject=evidence.error_class or "",
            contrast=f"recorded as {evidence.error_class}, without a verdict",
        )
    started = evidence.sign("log:not-started")
    if started is None or evidence.passes_with(started):
        return None
    failed = evidence.sign("log:install-failed", "log:disk-full", "log:network")
    alike, mine = evidence.run.kind_rollouts.get("log:not-started", 0), evidence.failures_with(started)
    subject = started.subject or (failed.subject if failed is not None else "")
    signs = tuple(one for one in (failed, started) if one is not None)
    same = evidence.alike(started)[0]
    if started.subject and same - mine >= FEWEST_ALIKE - 1:
        # The same command is not there in other tasks too, so that no task's agent has taken it away.
        told = f"`{started.subject}`, which runs the tests, is not there, as in {same - 1} other rollouts of this run; no test ran in any"
        return Candidate(confidence=Confidence.PROVEN, subject=subject, signs=signs, contrast=told)
    if failed is not None and FEWEST_ALIKE <= alike < evidence.run.rollouts / 2:
        told = f"no test session here, nor in {alike - 1} other rollouts of this run; its other rollouts that did not pass have one"
        return Candidate(confidence=Confidence.LIKELY, subject=subject, signs=signs, contrast=told)
    if failed is not None:
        sure = Confidence.SUSPECTED if evidence.task.solved else Confidence.LIKELY
        return Candidate(confidence=sure, subject=subject, signs=signs)
    return Candidate(
        confidence=Confidence.SUSPECTED, signs=(started,), contrast="the grader's log shows no test session"
    )


def _recorded(evidence: RolloutEvidence) -> Sign | None:
    """What the row records of a grader whose machine or endpoint failed, or that could not be started."""
    broke = evidence.sign("broke:grader") or evidence.sign("broke:harness")
    its_own = broke is not None and (broke.kind == "broke:grader" or of_grader(broke.quote))
    if broke is not None and its_own and MACHINERY.search(broke.quote) and not evidence.passes_with(broke):
        return broke
    if evidence.checks_asked:
        return None
    stated = (one for one in evidence.of("status") if of_grader(one.subject) and _NOT_STARTED.search(one.subject))
    return next((one for one in stated if not evidence.alike(one)[1]), None)
