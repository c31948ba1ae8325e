"""Two models or more give one and the same wrong answer to a task that none of them passes.

Why it matters
    Models that err for themselves err differently; where all of them agree against the key, the key is the first suspect.

What to do
    Work the task out by hand, and correct the key if it is wrong.

Limits
    Only reports of several runs can see it. Answers of which a run gives only a few kinds, such as letters of a choice,
    agree by chance, and are not looked at; a trap that every model falls into looks the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence import quotes
from blade.evidence.context import RunContext
from blade.evidence.in_words import answer
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.rules.declaration import rule

MOST_SHOWN = 3


@rule("TSK016", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def wrong_answer_of_all_runs(context: RunContext) -> Iterator[Doubt]:
    shared = context.elsewhere.same_wrong
    tasks = context.run.tasks["task_id"]
    for task in tasks.filter(tasks.is_in(sorted(shared))):
        walks = [walk for walk in context.reading.of(task) if walk.rollout.answer]
        found = [one for walk in walks[:MOST_SHOWN] if (one := answer(walk.rollout)) is not None]
        given = quotes.worded(walks[0].rollout.answer or "", 60) if walks else "one answer"
        yield Doubt(
            about="key",
            tasks=(task,),
            message=f"{task}: every judged rollout of this run and of {_others(shared[task])} answers {given}, "
            f"which was rejected",
            rollouts=len(walks),
            evidence=tuple[Evidence, ...](found),
        )


def _others(models: int) -> str:
    return "another model" if models == 1 else f"{models} other models"
