"""A test fails in every rollout of a task while its siblings mostly hold.

Why it matters
    The test may ask for something that the task does not.

What to do
    Read the test beside the prompt.

Limits
    A single hard requirement that no rollout meets looks the same; three rollouts are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.evidence import quotes
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule

FEWEST_CALLS = 3


@rule("TSK009", scope="run", suggests=Cause.TASK)
def test_failing_everywhere(context: RunContext) -> Iterator[Doubt]:
    run = context.run
    if run.checks.is_empty():
        return
    # Most tests hold: only tasks in which one fails often are counted.
    lost = run.checks.filter(~pl.col("passed")).group_by("task_id", "name").len().filter(pl.col("len") >= FEWEST_CALLS)
    checks = run.checks.filter(pl.col("task_id").is_in(lost["task_id"].unique().implode()))
    per = checks.group_by("task_id", "name").agg(n=pl.len(), held=pl.col("passed").sum())
    siblings = per.group_by("task_id").agg(all=pl.col("n").sum(), kept=pl.col("held").sum(), most=pl.col("n").max())
    joined = per.join(siblings, on="task_id").filter(
        (pl.col("held") == 0) & (pl.col("n") >= FEWEST_CALLS) & (pl.col("kept") * 2 > pl.col("all"))
    )
    for row in (
        joined.sort("task_id", "name").unique("task_id", keep="first", maintain_order=True).iter_rows(named=True)
    ):
        yield Doubt(
            about="verifier",
            tasks=(row["task_id"],),
            message=f"Task {row['task_id']}: `{quotes.shown(row['name'], 80)}` fails in {row['n']} of {row['n']} rollouts "
            f"while {row['kept']} of its {row['all']} checks hold",
            rollouts=row["n"],
        )
