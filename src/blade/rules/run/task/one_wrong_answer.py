"""Every repeat of a never-pass task gives one and the same wrong answer.

Why it matters
    Either the model is sure of something wrong, or the key is.

What to do
    Work the task out by hand, and correct the key if it is wrong.

Limits
    One model that is wrong in the same way each time looks the same; three repeats are needed. Where the verifier failed
    itself, or the answer is the key's word for word, nothing says that the answer is wrong; where no answer is expected, as
    of a patch, there is no key to doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.evidence import quotes
from blade.evidence.context import RunContext
from blade.evidence.other_runs import REJECTED
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule
from blade.stats.counts import JUDGED, task_numbers

FEWEST = 3
"""Judged rollouts of a task before one answer in all of them says anything."""


@rule("TSK008", scope="run", suggests=Cause.TASK)
def one_wrong_answer(context: RunContext) -> Iterator[Doubt]:
    run = context.run
    if run.rollouts["answer"].count() == 0:
        return
    rollouts = context.rollouts
    never = (rollouts.judged_per_task >= FEWEST) & (rollouts.per_task(rollouts.passed) == 0)
    rows = run.rollouts.select("task_id", "answer_fp", "answer").filter(
        pl.Series(rollouts.judged & never[rollouts.task])
    )
    answers = pl.col("answer_fp")
    told = (
        rows.with_columns(task_numbers(rows))
        .group_by("task", maintain_order=True)
        .agg(
            pl.col("task_id").first(),
            n=pl.len(),
            same=(answers.min() == answers.max()) & (answers.null_count() == 0),
            answer=pl.col("answer").first(),
        )
    )
    alike = told.filter("same")
    alike = alike.join(run.tasks.drop_nulls("expected"), on="task_id", how="semi", maintain_order="left")
    mine = run.rollouts.select("task_id", "outcome", "differs").filter(
        pl.col("task_id").is_in(alike["task_id"].implode()) & JUDGED
    )
    alike = alike.join(mine.filter(~REJECTED), on="task_id", how="anti", maintain_order="left")
    if alike.height:
        shown = "; ".join(
            f"{row['task_id']} ({quotes.worded(row['answer'], 40)})" for row in alike.head(4).iter_rows(named=True)
        )
        yield Doubt(
            about="key",
            tasks=tuple(alike["task_id"]),
            message=f"{alike.height} never-pass task{'s get' if alike.height > 1 else ' gets'} one and the same wrong answer from every repeat: {shown}",
            rollouts=int(alike["n"].sum()),
        )
