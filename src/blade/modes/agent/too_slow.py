"""The program that was handed in is too slow for its tests.

Evidence
    Every test that fails reports a time limit.
Contradicted by
    A failing test that reports a wrong result.
False alarms
    A test machine that is overloaded.
Example
    `Time Limit Exceeded` in 3 of 3 failing tests.
"""

from __future__ import annotations

from blade.evidence.differences import OF_A_TEST
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "too-slow",
    group="agent conduct",
    order=548,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Program too slow for its tests",
    title="Programs are too slow for their tests",
    action="State in the prompt how large the input gets and how long a test may take.",
    owner="prompt",
)
def too_slow(evidence: RolloutEvidence) -> Candidate | None:
    cut = evidence.difference(Differs.CUT, OF_A_TEST)
    return Candidate(confidence=Confidence.LIKELY, differences=(cut,)) if cut is not None else None
