"""What the score could gain if a symptom went away: three numbers, never one alone, on the all-expected score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from blade.core.diagnosis import Headroom
from blade.core.measure import Interval
from blade.core.run import Run
from blade.metrics.chances import student_quantile
from blade.metrics.counts import ranked
from blade.metrics.intervals import ROUGH_BELOW

Place = tuple[str, int]
Integers = npt.NDArray[np.int64]
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
    known: dict[int, tuple[Sequence[Place], Integers]] = field(default_factory=dict)
    """What was asked for before: one symptom is counted several times."""

    def those(self, *places: Sequence[Place]) -> Integers:
        """Where some rollouts stand, each once; those that the run has."""
        found = self.none()
        for some in places:
            found[self._at(some)] = True
        return np.flatnonzero(found)

    def none(self) -> Flags:
        """None of the rollouts, to be marked."""
        return np.zeros(len(self.keys), np.bool_)

    def _at(self, places: Sequence[Place]) -> Integers:
        if id(places) not in self.known:
            # The places are held, so that no others come to have their identity.
            self.known[id(places)] = places, self._found(places)
        return self.known[id(places)][1]

    def _found(self, places: Sequence[Place]) -> Integers:
        names, repeats = zip(*places, strict=True) if places else ((), ())
        tasks = np.fromiter(map(self.tasks.get, names, repeat(-1)), np.int64, len(names))
        wanted = tasks * _REPEATS + np.array(repeats, np.int64)
        first = np.searchsorted(self.keys, wanted)
        there = first < len(self.keys)
        there[there] = self.keys[first[there]] == wanted[there]
        return np.asarray(first[there])

    def per_task(self, which: Integers | Flags) -> Integers:
        """How many of some rollouts each task has."""
        return np.bincount(self.task[which], minlength=len(self.tasks))


def numbered(run: Run) -> Numbered:
    """The rollouts of a run, ready to be counted."""
    rows = run.rollouts.select("task_id", "repeat", "outcome")
    tasks, task = ranked(rows["task_id"])
    keys = task * _REPEATS + rows["repeat"].to_numpy()
    order = np.argsort(keys, kind="stable")
    passed, failed = ((rows["outcome"] == outcome).to_numpy()[order] for outcome in ("passed", "failed"))
    return Numbered(tasks=tasks, keys=keys[order], task=task[order], passed=passed, failed=failed)


def headroom(run: Numbered, hit: Integers, only: Integers, *, estimable: bool = True) -> Headroom:
    """What mending a symptom would give, for rollouts as `those` gives them.

    If `hit` rollouts did as well as their task's others; if those failures passed in which it is the `only` one; and
    if every such failure passed. `estimable` is False for symptoms that are read from the verdict.
    """
    judged = run.passed | run.failed
    size, hits, hit_passes = np.bincount(run.task), run.per_task(hit), run.per_task(hit[run.passed[hit]])
    rest = run.per_task(judged) - run.per_task(hit[judged[hit]])
    reached = (hits > 0) & (rest > 0)
    share = np.divide(run.per_task(run.passed) - hit_passes, rest, out=np.zeros(len(size)), where=rest > 0)
    gains = np.where(reached, (hits * share - hit_passes) / size, 0.0)
    estimate, interval = _limits(gains) if estimable and reached.any() else (None, None)
    return Headroom(
        estimate=estimate,
        interval=interval,
        only_defect=float(np.mean(run.per_task(only[run.failed[only]]) / size)) if len(size) else 0.0,
        ceiling=float(np.mean((hits - hit_passes) / size)) if len(size) else 0.0,
        unreached_tasks=int(((hits > 0) & (rest == 0)).sum()),
        reason=_why_not(estimable, bool(reached.any())),
    )


def _why_not(estimable: bool, reached: bool) -> str | None:
    if not estimable:
        return "read from the verdict"
    return None if reached else "no task has rollouts with it and rollouts without"


def _limits(values: npt.NDArray[np.float64]) -> tuple[float, Interval | None]:
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, None
    half = student_quantile(n - 1, 0.975) * float(values.std(ddof=1)) / sqrt(n)
    interval = Interval(low=mean - half, high=mean + half, level=0.95, method=METHOD, n=n, rough=n < ROUGH_BELOW)
    return mean, interval
