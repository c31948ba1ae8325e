"""Every test or criterion fails.

Evidence
    The grader's account: none holds.
Contradicted by
    A grader that did not run; a test that holds.
False alarms
    A fault before the first test, which fails them all.
Example
    0 of 4 tests hold.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.modes.compared import checks
from blade.modes.declaration import mode
from blade.modes.evidence import FEWEST_ALIKE, Candidate, RolloutEvidence


@mode(
    "all-checks-failed",
    group="agent result",
    order=750,
    party="agent",
    stage=Stage.GRADED,
    row="All checks failed",
    title="All checks fail: {subject}",
    action="Look for one fault before the first check (a missing file, an error on import), and read three of these rollouts.",
    owner="prompt",
)
def all_checks_failed(evidence: RolloutEvidence) -> Candidate | None:
    broken = evidence.sign("log:not-built")
    if broken is None or not evidence.judged or evidence.passes_with(broken):
        return checks(evidence, "all")
    # What every rollout of the task has may have been broken before any of them began.
    everywhere = not evidence.task.solved and evidence.failures_with(broken) >= FEWEST_ALIKE
    return Candidate(
        confidence=Confidence.SUSPECTED if everywhere else Confidence.LIKELY,
        subject=f"it does not build: {broken.subject}",
        signs=(broken,),
        contrast="no test ran: the code under test does not build or load",
    )
