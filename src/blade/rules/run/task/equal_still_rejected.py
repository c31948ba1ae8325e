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

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.rules.declaration import rule

_UNREAD = "an answer that equals the key was rejected"


@rule("TSK003", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def equal_still_rejected(context: RunContext) -> Iterator[Doubt]:
    mine = context.partition.table.filter(pl.col("mode").is_in(["correct-but-rejected", "wrong-format"]))
    table = mine.with_columns(pl.col("mode").replace({"wrong-format": "not-extracted"}))
    for (task,), rows in table.group_by("task_id", maintain_order=True):
        places = [(str(task), repeat) for repeat in rows["repeat"]]
        walk = next(iter(context.reading.at(places)), None)
        message, evidence = _told(walk, rows["mode"][0]) if walk is not None else (f"{task}: {_UNREAD}", None)
        yield Doubt(
            about="verifier",
            tasks=(str(task),),
            message=message,
            rollouts=len(places),
            places=tuple(places),
            evidence=(evidence,) if evidence else (),
        )


def _told(walk: AlignedTrajectory, mode: str) -> tuple[str, Evidence | None]:
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    evidence = quotes.stating(walk.rollout, last) if last is not None else None
    said = f' (:{evidence.step} "{evidence.quote}")' if evidence else ""
    key = quotes.worded(walk.due.answer or "", 60)
    if mode == "not-extracted":
        return f"{walk.place}: no answer was extracted, though the output states the expected {key}{said}", evidence
    given = walk.rollout.answer
    answers = f"answers {quotes.worded(given, 60)}" if given else f"says the same{said}"
    return f"{walk.place} {answers}, expected {key}, and was rejected", evidence
