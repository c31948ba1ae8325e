"""The verifier says one and the same of every failure of a task, in runs of different models, and seldom of other tasks.

Why it matters
    Models fail in different ways; a task that fails in one way whoever tries it may fail for a reason of its own.

What to do
    Read the message beside the task: a missing file, a test that cannot pass and a wrong key are the usual reasons.

Limits
    Only reports of several runs can see it. A task with one hard point fails in one way too, so it is a weak sign.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence import quotes
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule


@rule("TSK018", scope="run", suggests=Cause.TASK)
def one_message_everywhere(context: RunContext) -> Iterator[Doubt]:
    for task, words in context.elsewhere.same_words.items():
        yield Doubt(
            about="verifier",
            tasks=(task,),
            message=f'{task}: every failure, in runs of different models, has one message: "{quotes.shown(words, 90)}"',
            rollouts=len(context.reading.of(task)),
        )
