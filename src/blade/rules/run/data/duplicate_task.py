"""Tasks of one run have the same prompt and the same key under different ids.

Why it matters
    One problem counts several times: the score leans on it, and intervals are too narrow.

What to do
    Keep one of them, or count them as repeats of one task.

Limits
    Equal after white space is collapsed; the same problem in other words is not seen, nor is a difference that lies in
    files of the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule
from blade.rules.run.data._given import question

MOST_NAMED = 4
MOST_OF_ONE = 5
MARKS = ("key_fp", "prompt_fp")


@rule("DAT002", scope="run", suggests=Cause.DATA, status="stable")
def duplicate_task(context: RunContext) -> Iterator[Doubt]:
    marked = context.run.tasks.drop_nulls(MARKS)
    alike = marked.filter(pl.col("task_id").n_unique().over(*MARKS) > 1)
    groups = [rows["task_id"].to_list() for _, rows in alike.group_by(*MARKS, maintain_order=True)]
    if groups:
        tasks = tuple(task for group in groups for task in group)
        rows = context.run.rollouts.select("task_id", "artifact")
        rows = rows.filter(pl.col("task_id").is_in(tasks) & pl.col("artifact").is_not_null())
        more = f"; {len(groups) - MOST_NAMED} more groups" if len(groups) > MOST_NAMED else ""
        named = "; ".join(_named(group) for group in groups[:MOST_NAMED])
        read = [walk for task in groups[0] for walk in context.reading.of(task)[:1]]
        evidence = [found for walk in read[:2] if (found := question(walk)) is not None]
        yield Doubt(
            about="task",
            tasks=tasks,
            message=f"{len(tasks)} tasks are really {len(groups)}, with one prompt and answer under several ids: {named}{more}",
            rollouts=rows.height,
            evidence=tuple(evidence),
        )


def _named(tasks: list[str]) -> str:
    more = f" and {len(tasks) - MOST_OF_ONE} more" if len(tasks) > MOST_OF_ONE else ""
    return " = ".join(tasks[:MOST_OF_ONE]) + more
