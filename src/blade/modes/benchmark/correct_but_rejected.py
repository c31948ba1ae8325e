"""What the agent handed in equals what was expected, and was rejected.

Evidence
    The answer equals the expected one after case, white space and wrappers are set aside, or the grader's own two values agree.
    Or nothing was extracted, while the last line states the expected answer, under the label that passes use or where the
    prompt asks for no form. Suspected where the grader ran more tests than in any other rollout of the task, and
    no more fail than were added: then the failing ones may be the agent's own, which the grader takes for its own.
Contradicted by
    Another requirement that the rollout fails.
False alarms
    A format that the prompt demands to the letter. A prompt that asks for tests. Suites that stop at the first failure.
Example
    Expected `12`, answered `12.`, and the reward is 0.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import FEWEST_ALIKE, Candidate, RolloutEvidence

ADDED_AT_MOST = 0.7
"""Share of the tests that other rollouts have at least, where an agent added the rest: more are another suite."""


@mode(
    "correct-but-rejected",
    group="benchmark",
    order=230,
    party="verifier",
    stage=Stage.GRADED,
    cause=Cause.TASK,
    row="Correct answer rejected",
    title="Answers equal to the expected one are rejected",
    action="Compare answers after normalizing them as the prompt allows, and grade these rollouts again.",
    owner="test author",
)
def correct_but_rejected(evidence: RolloutEvidence) -> Candidate | None:
    if (added := _by_added_tests(evidence)) is not None:
        return added
    failing = evidence.all_of(Differs.CHECK)
    doubt = evidence.doubt("TSK004") if len({one.name for one in failing}) <= 1 else None
    if doubt is not None and doubt.named:
        return Candidate(confidence=Confidence.LIKELY, contrast=doubt.message)
    if failing:
        return None
    equal = evidence.difference(Differs.ANSWER, "equal", "other form")
    if equal is not None:
        sure = Confidence.LIKELY if equal.name == "equal" else Confidence.SUSPECTED
        return Candidate(confidence=sure, differences=(equal,), contrast="the answer equals the expected one")
    stated = evidence.difference(Differs.ANSWER, "not extracted")
    label = evidence.sign("closing:label")
    if (
        stated is not None
        and label is not None
        and evidence.run.sign_passes.get((label.kind, label.subject), 0) >= FEWEST_ALIKE
    ):
        told = (
            f"the last line states the expected answer under `{label.subject}`, as passes do, and nothing was extracted"
        )
        return Candidate(confidence=Confidence.LIKELY, differences=(stated,), contrast=told)
    plain = evidence.sign("answer:plainly-stated")
    if stated is not None and plain is not None and evidence.run.answers_recorded:
        told = (
            "the last line plainly states the expected answer, the prompt asks for no form, and nothing was extracted"
        )
        return Candidate(confidence=Confidence.LIKELY, signs=(plain,), differences=(stated,), contrast=told)
    return None


def _by_added_tests(evidence: RolloutEvidence) -> Candidate | None:
    """Tests fail that no other rollout of the task has, and as many hold as are made elsewhere."""
    asked, met, others = evidence.checks_asked, evidence.checks_met, evidence.task.checks_of_others
    if not asked or not met or others is None or not evidence.judged:
        return None
    failed = tuple(evidence.of("log:test-failed"))
    elsewhere = any(evidence.failures_with(sign) > 1 or evidence.passes_with(sign) for sign in failed)
    # A suite that broke off elsewhere has fewer tests, too: nearly all must have been run there.
    if not failed or elsewhere or not met == others < asked or others < ADDED_AT_MOST * asked:
        return None
    told = f"{asked} tests were graded here, at most {others} in other rollouts of this task, and {met} hold"
    return Candidate(confidence=Confidence.SUSPECTED, subject=failed[0].subject, signs=failed, contrast=told)
