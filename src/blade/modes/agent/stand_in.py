"""The agent delivered an invented or simulated result in place of the real one.

Evidence
    It wrote a file that calls itself mock, simulated or a fallback, after the real source failed or beside a claim of success.
Contradicted by
    A prompt that asks for such data.
False alarms
    Test fixtures and examples.
Example
    `simulate_sts12_evaluation.py` writes the scores that the task asked to measure.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, Evidence


@mode(
    "stand-in",
    group="agent conduct",
    order=520,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Delivered a stand-in for the real result",
    title="The agent delivers a stand-in for the real result",
    action="Forbid stand-ins in the prompt: when a source is missing, the agent must say so and stop.",
    owner="prompt",
)
def stand_in(evidence: Evidence) -> Candidate | None:
    sign = evidence.sign("stand-in")
    if sign is None:
        return None
    claims = evidence.sign("ends:success-claim")
    sure = Confidence.LIKELY if claims is not None and not evidence.passes_with(sign) else Confidence.SUSPECTED
    return Candidate(confidence=sure, subject=sign.subject, signs=(sign, claims) if claims else (sign,))
