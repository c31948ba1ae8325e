"""The change broke tests that passed before.

Evidence
    All tests that the change had to repair pass, and a test that must go on passing fails.
Contradicted by
    The same test failing without the change.
False alarms
    A flaky test.
Example
    5 tests of `test_requests.py` passed before and fail now.
Checked on
    A SWE-bench evaluation of 50 instances: in 2 of 2 the target tests hold, and tests that held before fail.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import KEPT, which_checks
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "regression",
    group="agent result",
    order=720,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Broke tests that passed before",
    title="The change breaks tests that passed before: {subject}",
    action="Have the agent run the existing tests of the files that it changed before it ends.",
    owner="prompt",
)
def regression(evidence: RolloutEvidence) -> Candidate | None:
    failed = evidence.all_of(Differs.CHECK)
    if not failed or not all(one.name.startswith(KEPT) for one in failed):
        return None
    return Candidate(
        confidence=Confidence.LIKELY,
        subject=which_checks(failed, (), len(failed)).removeprefix(f"{KEPT}: "),
        differences=failed,
        contrast=f"{len(failed)} of the tests that must go on passing fail; the target tests hold",
    )
