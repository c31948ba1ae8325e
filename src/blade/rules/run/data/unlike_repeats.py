"""Rollouts that count as repeats of one task were not given the same thing.

Why it matters
    Their scores are averaged, and their outputs compared, as if the task were one.

What to do
    Give each task an id of its own, or make its prompt the same in every repeat.

Limits
    With a simulated user the first words differ by nature, and are not looked at; its script is. Where a third of the
    tasks or more have repeats that differ, that is how the benchmark is made, and no cause rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from blade.evidence.context import RunContext
from blade.evidence.contrast import others
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule

BY_DESIGN = 0.34
"""Share of the failing tasks from which on repeats that differ are the benchmark's way, and no fault of a task."""


@rule("DAT001", scope="run", suggests=Cause.DATA, status="stable")
def unlike_repeats(context: RunContext) -> Iterator[Doubt]:
    odd = list(context.unlike.items())
    if odd:
        spoiled = tuple(_odd_ones(context, [task for task, _ in odd]))
        which = f"task {odd[0][0]}" if len(odd) == 1 else f"{len(odd)} tasks, such as {odd[0][0]},"
        yield Doubt(
            about="task",
            tasks=tuple(task for task, _ in odd),
            message=f"the repeats of {which} {odd[0][1]}, so they are not set against each other",
            rollouts=sum(len(context.reading.of(task)) for task, _ in odd),
            places=spoiled,
            preview=not spoiled,
        )


def _odd_ones(context: RunContext, tasks: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Failing rollouts that were given something else; none where that is how the benchmark is made."""
    read = [task for task in (*context.reading.sometimes, *context.reading.never) if len(context.reading.of(task)) > 1]
    if len(tasks) <= BY_DESIGN * len(read):
        for task in tasks:
            yield from ((task, walk.repeat) for walk in others(context.reading.of(task)) if not walk.passed)
