"""The data of the task are broken: its prompt, its key or its repeats do not say one thing.

Evidence
    A rule over the run sees it in the task's own data: one prompt with several keys, a hole in the prompt, repeats that
    were given different things.
Contradicted by
    A pass of the task in any run, where the rule alone is not enough and the passing rollout was given the same.
False alarms
    A placeholder that the prompt shows on purpose.
Example
    The prompt ends in `{question}`, no rollout passes, and one asks for the question.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

UNLIKE_REPEATS, A_HOLE = "DAT001", "DAT005"
SAYS_IT_LACKS = ("ends:question", "ends:refusal", "ends:gave-up")


@mode(
    "task-data-defect",
    group="benchmark",
    order=235,
    party="task",
    stage=Stage.GRADED,
    cause=Cause.DATA,
    row="Data of the task are broken",
    title="The data of the task are broken",
    action="Correct the prompt or the key of this task (see what is quoted), then rerun it.",
    owner="task author",
)
def task_data_defect(evidence: RolloutEvidence) -> Candidate | None:
    doubt = next((one for one in evidence.doubts if one.code.startswith("DAT") and one.named), None)
    if doubt is None:
        return None
    if doubt.code == UNLIKE_REPEATS and evidence.judged:
        # Passes of the task were given something else, and clear nothing; the expected answer is theirs.
        return Candidate(confidence=Confidence.LIKELY, contrast=doubt.message)
    if evidence.task.solved:
        return None
    # A placeholder may be meant; an agent that says what it lacks knows, and so does one that answers nothing else.
    lacks = any(kind in SAYS_IT_LACKS for kind, _ in evidence.task.sign_failures)
    lacks = doubt.code == A_HOLE and (lacks or (not evidence.calls and not evidence.answer))
    sure = Confidence.LIKELY if doubt.strong or lacks else Confidence.SUSPECTED
    return Candidate(confidence=sure, contrast=doubt.message, flag=sure is Confidence.SUSPECTED)
