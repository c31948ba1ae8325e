"""The change in each slice of the joined tasks, tested in one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from blade.comparison.cells import Classed
from blade.comparison.values import SliceChange
from blade.model.run import Run
from blade.stats.association import benjamini_hochberg
from blade.stats.paired import compare_rewards

FEWEST_TASKS = 5


def slices_of(runs: tuple[Run, Run], cells: Classed, pairs: Sequence[tuple[str, str]]) -> tuple[SliceChange, ...]:
    """Every value of a slice field with at least five joined tasks; the baseline's fields decide."""
    if not pairs:
        return ()
    before, after = (side.worth.sum(axis=1) / side.count.sum(axis=1) for side in (cells.baseline, cells.candidate))
    tasks = runs[0].tasks
    fields = [name for name in tasks.columns if name == "key_expects" or name.startswith("slice.")]
    made: list[SliceChange] = []
    for name in fields:
        of_task = dict(tasks.select("task_id", name).iter_rows())
        values = np.asarray([of_task[a] or "" for a, _ in pairs])
        for value in sorted(set(values.tolist()) - {""}):
            here = values == value
            if here.sum() >= FEWEST_TASKS and not here.all():
                made.append(_one(name.removeprefix("slice."), value, before[here], after[here]))
    q = benjamini_hochberg([one.p_value or 1.0 for one in made]) if made else ()
    return tuple(replace(one, q_value=float(found)) for one, found in zip(made, q, strict=True))


def _one(field: str, value: str, before: np.ndarray, after: np.ndarray) -> SliceChange:
    return SliceChange(
        field=field,
        value=value,
        tasks=len(before),
        baseline=float(before.mean()),
        candidate=float(after.mean()),
        p_value=compare_rewards(before, after, span=1.0).p_value,
        q_value=None,
    )
