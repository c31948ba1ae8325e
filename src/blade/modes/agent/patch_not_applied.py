"""The patch could not be applied to the repository.

Evidence
    The grader reports that applying the patch failed.
Contradicted by
    A test that ran on the patched code.
False alarms
    A repository at another commit than the task says.
Example
    `Patch Apply Failed: hunk #1 failed at 12`.
"""

from __future__ import annotations

import re

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.model.pattern import pattern_of
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

_REJECTED = pattern_of(
    r"patch\b.{0,20}appl\w*.{0,20}(?:fail|not |error|reject)|appl\w*_failed|^\w*patch\w*: false$", re.IGNORECASE
)


@mode(
    "patch-not-applied",
    group="agent conduct",
    order=505,
    party="agent",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.BEHAVIOR,
    row="Patch does not apply",
    title="The patch does not apply",
    action="Apply the patch to a clean checkout before it is handed in, and send the error back to the agent.",
    owner="prompt",
)
def patch_not_applied(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("patch:not-applied")
    said = next((one for one in evidence.all_of(Differs.SAID) if _REJECTED.search(one.detail)), None)
    if sign is None and said is None:
        return None
    return Candidate(confidence=Confidence.LIKELY, signs=(sign,) if sign else (), differences=(said,) if said else ())
