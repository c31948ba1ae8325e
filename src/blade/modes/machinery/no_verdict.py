"""The rollout has no verdict, or a reward beside an empty account of the grader.

Evidence
    The row has no reward, or the grader's account that other rollouts have is empty, its judge came to no decision, or no check is on record while nearly all other rollouts have some.
Contradicted by
    A verdict in the row. An account that most rollouts lack is no evidence.
False alarms
    A harness that leaves out the account of failures.
Example
    `reward_info` is null in 5 rollouts and filled in the other 195.
"""

from __future__ import annotations

from blade.evidence.differences import UNDECIDED
from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import ENOUGH, USUAL, Candidate, RolloutEvidence

HANDED_IN_NOTHING = ("patch:empty", "patch:not-applied", "log:test-failed", "log:test-error", "log:collection-error")
"""Signs beside which it is no wonder, or not true, that there are no checks."""


@mode(
    "no-verdict",
    group="machinery",
    order=195,
    party="verifier",
    stage=Stage.AGENT_FINISHED,
    valid=False,
    cause=Cause.INFRA,
    row="No verdict",
    title="The grader leaves no verdict",
    action="Grade these rollouts again, and let a missing verdict be an error in place of a reward of 0.",
    owner="harness",
)
def no_verdict(evidence: RolloutEvidence) -> Candidate | None:
    if evidence.difference(Differs.CUT) is not None or evidence.stopped_at_most is not None:
        return None
    if evidence.sign("patch:empty", "patch:not-applied") is not None:
        return None  # there was nothing to test
    empty = next((one for one in evidence.all_of(Differs.NO_RECORD) if one.detail in ("", UNDECIDED)), None)
    if empty is not None and not (evidence.run.answers_recorded and evidence.difference(Differs.NO_ANSWER, "answer")):
        what = (
            "its judge came to no decision"
            if empty.detail == UNDECIDED
            else f"`{empty.name}` is empty here and filled in most rollouts of the run"
        )
        return Candidate(confidence=Confidence.LIKELY, subject=empty.name, differences=(empty,), contrast=what)
    if (bare := _without_checks(evidence)) is not None:
        return bare
    if evidence.outcome != "unscored":
        return None
    began = evidence.sign("log:not-started", "log:not-finished")
    # Tests that hang or do not start may do so because of what the agent left: then nobody is charged.
    return Candidate(
        confidence=Confidence.SUSPECTED if began is not None else Confidence.LIKELY,
        signs=(began,) if began is not None else (),
        contrast="the row has no reward",
        party="unknown" if began is not None else None,
    )


def _without_checks(evidence: RolloutEvidence) -> Candidate | None:
    """Something was handed in and counts as failed, and no check is on record, while nearly all others have some."""
    run = evidence.run
    others = run.rollouts - 1
    handed_in = evidence.calls or evidence.agent_chars or evidence.answer
    if not evidence.judged or evidence.checks_asked or not handed_in:
        return None
    if others < ENOUGH or run.with_checks < USUAL * others or evidence.sign(*HANDED_IN_NOTHING) is not None:
        return None
    if evidence.run.answers_recorded and not evidence.answer:
        return None  # a grader has nothing to check where nothing was handed in
    told = f"no check is on record here; {run.with_checks} of {others} other rollouts of this run have some"
    # Where nothing is on record of the agent either, files may be missing from what was copied.
    sure = Confidence.LIKELY if evidence.calls or evidence.agent_chars else Confidence.SUSPECTED
    return Candidate(confidence=sure, signs=tuple(evidence.of("log:not-finished")), contrast=told)
