"""The score of each slice of tasks."""

from __future__ import annotations

import numpy as np
import polars as pl

from blade.model.analysis import SliceValue
from blade.model.run import Run
from blade.stats.counts import Counts
from blade.stats.scores import interval_of

PREFIX = "slice."
KEY_EXPECTS = ("nothing", "information", "one change", "several changes")


def slices(run: Run, counts: Counts, kind: str) -> dict[str, tuple[SliceValue, ...]]:
    """For each field, its values in order of name; `key_expects` comes first wherever keys are actions."""
    found = {}
    if run.tasks["key_expects"].is_in(["one change", "several changes"]).any():
        found["key_expects"] = _values(run.tasks["key_expects"], counts, kind, KEY_EXPECTS)
    for name in run.tasks.columns:
        if name.startswith(PREFIX):
            column = run.tasks[name]
            order = tuple(sorted(column.drop_nulls().unique().to_list()))
            found[name.removeprefix(PREFIX)] = _values(column, counts, kind, order)
    return found


def _values(column: pl.Series, counts: Counts, kind: str, order: tuple[str, ...]) -> tuple[SliceValue, ...]:
    rows = (_value(value, (column == value).fill_null(False).to_numpy(), counts, kind) for value in order)
    return tuple(row for row in rows if row.tasks)


def _value(value: str, mine: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], counts: Counts, kind: str) -> SliceValue:
    kept = mine & (counts.judged > 0)
    tops = counts.passed if kind == "pass_at_1" else counts.reward_sum
    scores = tops[kept] / counts.judged[kept]
    rollouts = int(counts.judged[kept].sum())
    return SliceValue(
        value=value,
        tasks=int(mine.sum()),
        rollouts=rollouts,
        passed=int(counts.passed[kept].sum()),
        pass_at_1=float(np.mean(scores)) if kept.any() else None,
        interval=interval_of(kind, scores, rollouts, counts.groups_of(kept)) if kept.sum() > 1 else None,
    )
