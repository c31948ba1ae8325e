"""What the score could gain if a symptom went away: three numbers, never one alone, on the all-expected score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
import polars as pl
from scipy.special import stdtrit

from blade.core.diagnosis import Headroom
from blade.core.measure import Interval
from blade.core.run import Run
from blade.metrics.intervals import ROUGH_BELOW

Place = tuple[str, int]

METHOD = "t over tasks: affected rollouts take the mean of the task's unaffected ones"


def headroom(run: Run, affected: Sequence[Place], alone: Sequence[Place], *, estimable: bool = True) -> Headroom:
    """What mending a symptom would give.

    If `affected` rollouts did as well as their task's others; if those failures passed in which it stands `alone`; and
    if every affected failure passed. `estimable` is False for symptoms that are read from the verdict.
    """
    gains = _gains(run, affected)
    failing = _failing(run)
    sizes = {task: size for task, (size, _) in gains.items()}
    n = len(sizes)
    only = sum(1 / sizes[task] for task, repeat in set(alone) if (task, repeat) in failing) / n if n else 0.0
    ceiling = sum(1 / sizes[task] for task, repeat in set(affected) if (task, repeat) in failing) / n if n else 0.0
    reached = [gain for _, gain in gains.values() if gain is not None]
    unreached = len({task for task, _ in affected}) - sum(gain is not None for _, gain in gains.values())
    why = (
        "read from the verdict"
        if not estimable
        else "no task has rollouts with it and rollouts without"
        if not reached
        else None
    )
    if why is not None:
        return Headroom(
            estimate=None, interval=None, only_defect=only, ceiling=ceiling, unreached_tasks=unreached, reason=why
        )
    estimate, interval = _limits([gain or 0.0 for _, gain in gains.values()])
    return Headroom(estimate=estimate, interval=interval, only_defect=only, ceiling=ceiling, unreached_tasks=unreached)


def _failing(run: Run) -> frozenset[Place]:
    failed = run.rollouts.filter(pl.col("outcome") == "failed").select("task_id", "repeat")
    return frozenset(failed.iter_rows())


def _gains(run: Run, affected: Sequence[Place]) -> Mapping[str, tuple[int, float | None]]:
    """For each task: expected rollouts, and the gain of its score; None where the symptom is absent or everywhere."""
    marks = pl.DataFrame(
        {"task_id": [task for task, _ in affected], "repeat": [repeat for _, repeat in affected]},
        schema={"task_id": pl.String, "repeat": pl.Int32},
    ).unique()
    rows = run.rollouts.select("task_id", "repeat", "outcome").join(
        marks.with_columns(pl.lit(True).alias("hit")), on=["task_id", "repeat"], how="left"
    )
    hit, judged = pl.col("hit").fill_null(False), pl.col("outcome").is_in(["passed", "failed"])
    passed = pl.col("outcome") == "passed"
    per_task = rows.group_by("task_id").agg(
        size=pl.len(),
        hits=(hit & judged).sum(),
        hit_passes=(hit & passed).sum(),
        rest=(~hit & judged).sum(),
        rest_passes=(~hit & passed).sum(),
    )
    found: dict[str, tuple[int, float | None]] = {}
    for task, size, hits, hit_passes, rest, rest_passes in sorted(per_task.iter_rows()):
        gain = (hits * rest_passes / rest - hit_passes) / size if hits and rest else None
        found[task] = (size, gain)
    return found


def _limits(gains: Sequence[float]) -> tuple[float, Interval | None]:
    values = np.asarray(gains)
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, None
    half = float(stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(n)
    interval = Interval(low=mean - half, high=mean + half, level=0.95, method=METHOD, n=n, rough=n < ROUGH_BELOW)
    return mean, interval
