"""What the score could gain if a symptom went away: three numbers, never one alone, on the all-expected score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.core.diagnosis import Headroom
from blade.core.measure import Interval
from blade.core.run import Run
from blade.metrics.chances import student_quantile
from blade.metrics.intervals import ROUGH_BELOW
from blade.metrics.worth import Scale, scale, worth

Place = tuple[str, int]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_REPEATS = 1 << 32
"""More than any task has."""
METHOD = "t over tasks: affected rollouts take the mean of the task's unaffected ones"


class Numbered(Struct, frozen=True, kw_only=True, eq=False):
    """The rollouts of a run by number, for the many symptoms that are counted over them."""

    tasks: Mapping[str, int]
    """Place of each task in the order of ids."""
    keys: Integers
    """One number a rollout, by task and repeat, ascending; the other columns are in the same order."""
    task: Integers
    passed: Flags
    failed: Flags
    worth: Floats
    """What each gives to its task's score."""
    scale: Scale

    def those(self, places: Sequence[Place]) -> Integers:
        """Where some rollouts stand, each once; those that the run has."""
        tasks = np.fromiter((self.tasks.get(task, -1) for task, _ in places), np.int64, len(places))
        repeats = np.fromiter((repeat for _, repeat in places), np.int64, len(places))
        wanted = tasks * _REPEATS + repeats
        first, after = (np.searchsorted(self.keys, wanted, side) for side in ("left", "right"))
        found = np.zeros(len(self.keys), np.bool_)
        found[first[first < after]] = True
        return np.flatnonzero(found)

    def per_task(self, which: Integers | Flags) -> Integers:
        """How many of some rollouts each task has."""
        return np.bincount(self.task[which], minlength=len(self.tasks))

    def worth_per_task(self, which: Integers | Flags) -> Floats:
        """What some rollouts give to their tasks."""
        return np.bincount(self.task[which], self.worth[which], len(self.tasks)).astype(np.float64)

    def mended(self, which: Integers) -> float:
        """What the score gains where those of some rollouts that did not pass are worth the most that one can be."""
        lost = which[~self.passed[which]]
        gains = self.scale.top * self.per_task(lost) - self.worth_per_task(lost)
        return float(np.mean(gains / np.bincount(self.task))) if len(self.tasks) else 0.0


def numbered(run: Run) -> Numbered:
    """The rollouts of a run, ready to be counted."""
    scaled = scale(run)
    rows = run.rollouts.select("task_id", "repeat", "outcome", worth=worth(scaled.kind, scaled.floor))
    ids = rows["task_id"].unique().sort()
    task = rows["task_id"].rank("dense").to_numpy().astype(np.int64) - 1
    keys = task * _REPEATS + rows["repeat"].to_numpy()
    order = np.argsort(keys, kind="stable")
    passed, failed = ((rows["outcome"] == outcome).to_numpy()[order] for outcome in ("passed", "failed"))
    return Numbered(
        tasks={name: place for place, name in enumerate(ids)},
        keys=keys[order],
        task=task[order],
        passed=passed,
        failed=failed,
        worth=rows["worth"].to_numpy()[order],
        scale=scaled,
    )


def headroom(run: Numbered, affected: Sequence[Place], alone: Sequence[Place], *, estimable: bool = True) -> Headroom:
    """What mending a symptom would give, in the units of the score.

    If `affected` rollouts did as well as their task's others; if those failures were mended in which it stands `alone`;
    and if every affected rollout that did not pass were. `estimable` is False for symptoms that are read from the verdict.
    """
    judged = run.passed | run.failed
    hit, only = run.those(affected), run.those(alone)
    size, hits, judged_hit = np.bincount(run.task), run.per_task(hit), hit[judged[hit]]
    rest = run.per_task(judged) - run.per_task(judged_hit)
    reached = (hits > 0) & (rest > 0)
    others = run.worth_per_task(judged) - run.worth_per_task(judged_hit)
    usual = np.divide(others, rest, out=np.zeros(len(size)), where=rest > 0)
    gains = np.where(reached, (hits * usual - run.worth_per_task(hit)) / size, 0.0)
    estimate, interval = _limits(gains) if estimable and reached.any() else (None, None)
    return Headroom(
        estimate=estimate,
        interval=interval,
        only_defect=run.mended(only[run.failed[only]]),
        ceiling=run.mended(hit),
        unreached_tasks=int(((hits > 0) & (rest == 0)).sum()),
        reason=_why_not(estimable, bool(reached.any())),
        in_points=run.scale.in_points,
    )


def _why_not(estimable: bool, reached: bool) -> str | None:
    if not estimable:
        return "read from the verdict"
    return None if reached else "no task has rollouts with it and rollouts without"


def _limits(values: Floats) -> tuple[float, Interval | None]:
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, None
    half = student_quantile(n - 1, 0.975) * float(values.std(ddof=1)) / sqrt(n)
    interval = Interval(low=mean - half, high=mean + half, level=0.95, method=METHOD, n=n, rough=n < ROUGH_BELOW)
    return mean, interval
