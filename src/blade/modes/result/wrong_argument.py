"""The right call was made with another argument than expected.

Evidence
    The calls made and expected are the same, and an argument differs.
Contradicted by
    Passes with the same difference.
False alarms
    Two ways to write one value.
Example
    `book_reservation.payment_id` is a card that no look-up returned.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Differs
from blade.modes.compared import made_up, only
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "wrong-argument",
    group="agent result",
    order=700,
    party="agent",
    stage=Stage.GRADED,
    row="Correct call, wrong argument",
    title="`{subject}` differs from the expected value",
    action="Before this call, have the agent compare the argument with what the user asked for and what the look-ups say.",
    owner="prompt",
)
def wrong_argument(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.ARGUMENT)
    if not found or not only(evidence, Differs.ARGUMENT):
        found = tuple(one for one in evidence.all_of(Differs.LOOKUP) if one.detail) if evidence.run.only_reads else ()
    if not found:
        return None
    named = f"{found[0].name}.{found[0].detail}"
    return Candidate(
        confidence=Confidence.PROVEN,
        subject=named,
        signs=tuple(one for one in evidence.of("action:wrong-argument", "action:wrong-object") if one.subject == named),
        differences=found,
        contrast=f"`{named}` differs from the expected call{made_up(evidence)}",
    )
