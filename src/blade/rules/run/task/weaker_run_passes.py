"""A run with a higher score always fails a task that a run with a lower score always passes.

Why it matters
    What a weaker model does reliably and a stronger one never does is often judged by something other than skill: a
    form, a habit or a key that fits one way of answering.

What to do
    Read the passing and the failing outputs beside each other, and ask what the verifier minds.

Limits
    Only reports of several runs can see it, and only with three judged rollouts of the task in both. Models have
    different strengths, so it is a weak sign.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.context import RunContext
from blade.evidence.in_words import closing
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule


@rule("TSK017", scope="run", suggests=Cause.TASK)
def weaker_run_passes(context: RunContext) -> Iterator[Doubt]:
    for task, other in context.elsewhere.weaker_passes.items():
        walks = context.reading.of(task)
        shown = [one for walk in walks[:1] if walk.steps and (one := closing(walk)) is not None]
        yield Doubt(
            about="verifier",
            tasks=(task,),
            message=f"{task} always fails here and always passes in {other}, whose score is lower",
            rollouts=len(walks),
            evidence=tuple(shown),
        )
