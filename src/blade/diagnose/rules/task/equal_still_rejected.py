"""An answer that is equal to the key after normalizing was rejected, or the output states the key and nothing was extracted.

Why it matters
    The verifier compares spelling, not meaning; the model is right and counts as wrong.

What to do
    Normalize in the verifier, or ask in the prompt for the very form that it accepts.

Limits
    Equality is claimed only where it is certain: case, spacing, wrappers, another way of writing one number.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.core.diagnosis import Doubt
from blade.core.finding import Cause
from blade.diagnose import quotes
from blade.diagnose.context import Context
from blade.diagnose.rules._rule import run_rule


@run_rule("TSK003", suggests=Cause.TASK, strong=True, status="stable")
def equal_still_rejected(context: Context) -> Iterator[Doubt]:
    places = context.partition.table.filter(pl.col("mode").is_in(["answer-equal", "not-extracted"]))
    for task, repeat, mode in places.select("task_id", "repeat", "mode").head(3).iter_rows():
        walk = context.reading.walks.get((task, repeat))
        if walk is None:
            continue
        last = walk.message_after(walk.steps[-1].index) if walk.steps else None
        evidence = quotes.stating(walk.rollout, last) if last is not None else None
        said = f' (:{evidence.step} "{evidence.quote}")' if evidence else ""
        key = quotes.shown(walk.due.answer or "", 60)
        message = (
            f"{walk.place}: no answer was extracted, though the output states the key {key}{said}"
            if mode == "not-extracted"
            else f"{walk.place} answers {quotes.shown(walk.rollout.answer or '', 60)}, the key has {key}, and it was rejected"
        )
        yield Doubt(
            about="verifier",
            tasks=(task,),
            message=message,
            rollouts=1,
            evidence=(evidence,) if evidence else (),
        )
