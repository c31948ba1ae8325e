"""A call breaks the schema that the request gives for its tool, and nothing else explains the failure.

Evidence
    An argument has another type than declared, is unknown, or is required and missing.
Contradicted by
    Passes with the same call: many tools take it all the same.
False alarms
    A tool that is more lenient than its schema.
Example
    `click` is given `"x": "1"`, and the schema asks for a number.
Checked on
    A clicking task with a vision model: in 3 of 3 an argument that the schema wants as a whole number is a list or a text.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "malformed-arguments",
    group="agent result",
    order=780,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Call breaks its tool's schema",
    title="Calls of `{subject}` break the tool's schema",
    action="Decode calls with the tool's schema, or have the harness refuse such a call and say what it takes.",
    owner="harness",
)
def malformed_arguments(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.REFUSED)
    if not found:
        return None
    contrast = f"`{found[0].name}.{found[0].detail}` is not as the request declares it"
    return Candidate(confidence=Confidence.LIKELY, subject=found[0].name, differences=found, contrast=contrast)
