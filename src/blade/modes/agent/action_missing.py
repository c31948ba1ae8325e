"""The agent did not do what was required.

Evidence
    The expected actions hold changes, and the agent made none of them and no other change. Where they hold look-ups
    alone: one of these is not among the calls.
Contradicted by
    A change in the trajectory; passes that make none either. A talk that breaks off on the user's side without a
    word of goodbye, as no pass does: then it is suspected only. Where the agent declines, its instructions may forbid
    the action, and where the user takes the request back, nobody wants it any more: then it is likely, and the sentence is quoted.
False alarms
    A simulated user who never asked for the change. Another way to the same information.
Example
    The expected `cancel_reservation` was never called, and neither was any other change.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.compared import declined, required, unless_broken_off
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "action-missing",
    group="agent conduct",
    order=600,
    party="agent",
    stage=Stage.GRADED,
    cause=Cause.BEHAVIOR,
    row="Required call not made",
    title="The agent never makes the required call of `{subject}`",
    action="Read what the agent says where the call was due: it refuses, hands over, waits for a confirmation, or reports an error.",
    owner="prompt",
)
def action_missing(evidence: RolloutEvidence) -> Candidate | None:
    found = evidence.all_of(Differs.NOT_MADE)
    if not found and evidence.run.only_reads:
        found = tuple(one for one in evidence.all_of(Differs.LOOKUP) if not one.detail)
    if not found:
        return None
    tried = tuple(one for one in evidence.of("call:refused") if one.subject in {two.name for two in found})
    against = declined(found, evidence)
    told = f"{required(found)}; the last try came back with an error" if tried else required(found)
    told = f"{told}; the talk says why" if against else told
    return Candidate(
        confidence=unless_broken_off(evidence, Confidence.LIKELY if against else Confidence.PROVEN),
        subject=found[0].name,
        signs=(*tried, *against),
        differences=found,
        contrast=told,
    )
