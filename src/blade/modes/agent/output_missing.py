"""What the task asks for is not there: a file that the prompt names, or an answer.

Evidence
    A test cannot find a path that the prompt names, no answer could be taken from the output, its last line lacks the
    label that the answers of nearly all passes have, or a talk of several agents ends with the output of a program that
    nobody draws a conclusion from. Suspected of nobody where the session stops after a result and hardly any pass does.
Contradicted by
    The same test passing with the same path absent.
False alarms
    A file that was written to another folder.
Example
    `FileNotFoundError: '/app/model.bin'`, which the prompt asks for.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence


@mode(
    "output-missing",
    group="agent conduct",
    order=540,
    party="agent",
    stage=Stage.AGENT_FINISHED,
    cause=Cause.BEHAVIOR,
    row="Required output missing",
    title="The required output is missing: {subject}",
    action="Have the agent check that every output which the prompt names exists before it ends.",
    owner="prompt",
)
def output_missing(evidence: RolloutEvidence) -> Candidate | None:
    sign = evidence.sign("missing:named-in-prompt")
    if sign is not None and not evidence.passes_with(sign):
        broken = evidence.sign("ends:after-result")
        if broken is not None and not evidence.is_usual_end(broken.kind):
            told = "the session stops after a result, and nothing says whether it was cut"
            return Candidate(
                confidence=Confidence.SUSPECTED, subject=sign.subject, signs=(sign,), contrast=told, party="unknown"
            )
        return Candidate(confidence=Confidence.LIKELY, subject=sign.subject, signs=(sign,))
    thought = evidence.difference(Differs.NO_ANSWER, "thought")
    if thought is not None:
        return Candidate(
            confidence=Confidence.LIKELY, subject="it reasoned and then said nothing", differences=(thought,)
        )
    if evidence.silent:
        return None  # nothing came of the model at all, which is not its answer
    open_end = evidence.sign("talk:no-conclusion")
    if open_end is not None and evidence.difference(Differs.ANSWER, "absent") is not None:
        told = "the talk ends with the output of a program, and nobody concludes from it"
        return Candidate(confidence=Confidence.LIKELY, subject="no final answer", signs=(open_end,), contrast=told)
    label = evidence.run.closing_label
    if label and evidence.judged and not evidence.calls and not evidence.answer and not _labelled(evidence, label):
        told = (
            f"no last line with the label `{label}`; nearly all of the {evidence.run.passes} passes of this run have it"
        )
        return Candidate(confidence=Confidence.LIKELY, subject="no final answer", contrast=told)
    empty = evidence.difference(Differs.ANSWER, "none") or evidence.difference(Differs.NO_ANSWER, "answer")
    stated = evidence.difference(Differs.ANSWER, "not extracted")
    if empty is None or stated is not None or not evidence.run.answers_recorded:
        return None
    subject = "no answer was found"
    if evidence.error_class:
        # The error may be of what was answered, or of the machine that ran it.
        told = f"an error is recorded in its place: {evidence.error_class}"
        return Candidate(
            confidence=Confidence.SUSPECTED, subject=subject, differences=(empty,), contrast=told, party="unknown"
        )
    if evidence.steps is None and not evidence.run.with_output:
        told = "only answers are on record: nothing shows whether the model said anything"
        return Candidate(
            confidence=Confidence.SUSPECTED, subject=subject, differences=(empty,), contrast=told, party="unknown"
        )
    return Candidate(confidence=Confidence.LIKELY, subject=subject, differences=(empty,))


def _labelled(evidence: RolloutEvidence, label: str) -> bool:
    return any(sign.subject == label for sign in evidence.of("closing:label"))
