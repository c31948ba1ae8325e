"""Exactly one test or criterion fails.

Evidence
    The grader's account: one fails, the others hold. Where only a log tells, one is named as failing, and how many there are
    is not known.
Contradicted by
    A benchmark defect in that very test.
False alarms
    A test that repeats the whole verdict.
Example
    `test_output_format` fails, 6 others pass.
"""

from __future__ import annotations

from blade.model.attribution import Stage
from blade.modes.compared import checks
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "one-check-failed",
    group="agent result",
    order=730,
    party="agent",
    stage=Stage.GRADED,
    row="One check failed",
    title="One check fails: {subject}",
    action="Read the failing check beside the prompt: either the prompt does not ask for it plainly, or the agent did not check it.",
    owner="prompt",
)
def one_check_failed(evidence: RolloutEvidence) -> Candidate | None:
    return checks(evidence, "one")
