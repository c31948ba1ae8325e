"""Tasks with the same prompt want different answers.

Why it matters
    No model can tell them apart, so all but one of them fail.

What to do
    Correct the wrong key, or put into the prompt what makes the tasks differ.

Limits
    Quiet where more than a third of all tasks share their prompt, or a simulated user speaks: the task's text then
    lies elsewhere. Different files of the sandbox behind one prompt are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.evidence import quotes
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule
from blade.rules.run.data._given import question

MOST_SHARED = 1 / 3
"""Share of all tasks; a prompt, or prompts, that more of them share are a template."""
MOST_NAMED = 3


@rule("DAT003", scope="run", suggests=Cause.DATA, strong=True, status="stable")
def same_prompt_different_keys(context: RunContext) -> Iterator[Doubt]:
    tasks = context.run.tasks
    # Where only the rollouts hold the key, and no file of inputs does, it has no fingerprint.
    keyed = tasks.drop_nulls("prompt_fp").filter(pl.col("key_fp").is_not_null() | pl.col("expected").is_not_null())
    alike = keyed.filter(pl.len().over("prompt_fp") > 1)
    if alike.is_empty() or alike.height > MOST_SHARED * tasks.height or _is_simulated(context):
        return
    groups = [rows for _, rows in alike.group_by("prompt_fp", maintain_order=True) if _differ(rows)]
    if groups:
        named = tuple(task for rows in groups for task in rows["task_id"])
        rollouts = context.run.rollouts.select("task_id", "artifact").filter(
            pl.col("task_id").is_in(named) & pl.col("artifact").is_not_null()
        )
        more = f"; {len(groups) - MOST_NAMED} more prompts" if len(groups) > MOST_NAMED else ""
        read = [walk for task in groups[0]["task_id"] for walk in context.reading.of(task)[:1]]
        evidence = [found for walk in read[:2] if (found := question(walk)) is not None]
        yield Doubt(
            about="key",
            tasks=named,
            message=f"one prompt has different expected answers: {'; '.join(map(_in_words, groups[:MOST_NAMED]))}{more}",
            rollouts=rollouts.height,
            evidence=tuple(evidence),
        )


def _is_simulated(context: RunContext) -> bool:
    return any(walk.due.script for walk in context.reading.walks.values())


def _differ(rows: pl.DataFrame) -> bool:
    """Whether the keys want different things: other answers, or other calls; marks alone may differ by an id in them."""
    if rows["key_fp"].null_count() == 0 and rows["key_fp"].n_unique() == 1:
        return False
    answers = {" ".join(text.split()).casefold() for text in rows["expected"].drop_nulls()}
    return len(answers) > 1 or (not answers and rows["key_expects"].null_count() == 0)


def _in_words(rows: pl.DataFrame) -> str:
    wanted = [
        f"{task} wants {quotes.worded(answer, 40)}" if answer is not None else str(task)
        for task, answer in rows.select("task_id", "expected").head(3).iter_rows()
    ]
    return ", ".join(wanted)
