"""Several tests or criteria fail, and others hold.

Evidence
    The grader's account of each.
Contradicted by
    A benchmark defect in those tests.
False alarms
    Tests that depend on one another.
Example
    2 of 5 tests hold.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.modes.compared import checks
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "some-checks-failed",
    group="agent result",
    order=740,
    party="agent",
    stage=Stage.GRADED,
    row="Some checks failed",
    title="Some checks fail: {subject}",
    action="Read the first failing check of three of these rollouts: what they share is the finding.",
    owner="prompt",
)
def some_checks_failed(evidence: RolloutEvidence) -> Candidate | None:
    return checks(evidence, "some")
