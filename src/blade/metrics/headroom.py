"""What the score could gain if a symptom went away: three numbers, never one alone, on the all-expected score."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt
import polars as pl

from blade.core.diagnosis import Headroom
from blade.core.measure import Interval
from blade.core.run import Run
from blade.metrics.chances import student_quantile
from blade.metrics.intervals import ROUGH_BELOW

Place = tuple[str, int]

METHOD = "t over tasks: affected rollouts take the mean of the task's unaffected ones"


def headroom(run: Run, affected: Sequence[Place], alone: Sequence[Place], *, estimable: bool = True) -> Headroom:
    """What mending a symptom would give.

    If `affected` rollouts did as well as their task's others; if those failures passed in which it stands `alone`; and
    if every affected failure passed. `estimable` is False for symptoms that are read from the verdict.
    """
    tasks = _per_task(run, affected, alone)
    size, hits, rest = (tasks[name].to_numpy() for name in ("size", "hits", "rest"))
    reached = (hits > 0) & (rest > 0)
    share = np.divide(tasks["rest_passes"].to_numpy(), rest, out=np.zeros(len(size)), where=rest > 0)
    gains = np.where(reached, (hits * share - tasks["hit_passes"].to_numpy()) / size, 0.0)
    estimate, interval = _limits(gains) if estimable and reached.any() else (None, None)
    return Headroom(
        estimate=estimate,
        interval=interval,
        only_defect=float(np.mean(tasks["alone"].to_numpy() / size)) if len(size) else 0.0,
        ceiling=float(np.mean((hits - tasks["hit_passes"].to_numpy()) / size)) if len(size) else 0.0,
        unreached_tasks=int(((hits > 0) & (rest == 0)).sum()),
        reason=_why_not(estimable, bool(reached.any())),
    )


def _why_not(estimable: bool, reached: bool) -> str | None:
    if not estimable:
        return "read from the verdict"
    return None if reached else "no task has rollouts with it and rollouts without"


def _per_task(run: Run, affected: Sequence[Place], alone: Sequence[Place]) -> pl.DataFrame:
    """For each task: expected rollouts; those with the symptom, judged or not, and judged ones without, and their passes; failures with it alone."""
    rows = run.rollouts.select("task_id", "repeat", "outcome")
    passed, failed = (pl.col("outcome") == "passed").sum(), (pl.col("outcome") == "failed").sum()
    tasks = rows.group_by("task_id").agg(size=pl.len(), judged=passed + failed, passes=passed)
    hit = _those(rows, affected).group_by("task_id").agg(hits=pl.len(), hit_judged=passed + failed, hit_passes=passed)
    only = _those(rows, alone).group_by("task_id").agg(alone=failed)
    for marks in (hit, only):
        tasks = tasks.join(marks, on="task_id", how="left")
    return (
        tasks.with_columns(pl.col("hits", "hit_judged", "hit_passes", "alone").fill_null(0))
        .with_columns(rest=pl.col("judged") - pl.col("hit_judged"), rest_passes=pl.col("passes") - pl.col("hit_passes"))
        .sort("task_id")
    )


def _those(rows: pl.DataFrame, places: Sequence[Place]) -> pl.DataFrame:
    """The rows of some rollouts, each once."""
    ids = pl.Series("task_id", [task for task, _ in places], pl.String)
    wanted = pl.DataFrame([ids, pl.Series("repeat", [repeat for _, repeat in places], pl.Int32)])
    return rows.join(wanted, on=["task_id", "repeat"], how="semi")


def _limits(values: npt.NDArray[np.float64]) -> tuple[float, Interval | None]:
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, None
    half = student_quantile(n - 1, 0.975) * float(values.std(ddof=1)) / sqrt(n)
    interval = Interval(low=mean - half, high=mean + half, level=0.95, method=METHOD, n=n, rough=n < ROUGH_BELOW)
    return mean, interval
