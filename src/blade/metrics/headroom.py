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
    tasks, task = ranked(rows["task_id"])
    keys = task * _REPEATS + rows["repeat"].to_numpy()
    order = np.argsort(keys, kind="stable")
    passed, failed = ((rows["outcome"] == outcome).to_numpy()[order] for outcome in ("passed", "failed"))
    return Numbered(
        tasks=tasks,
        keys=keys[order],
        task=task[order],
        passed=passed,
        failed=failed,
        worth=rows["worth"].to_numpy()[order],
        scale=scaled,
    )


def headroom(run: Numbered, hit: Integers, only: Integers, *, estimable: bool = True) -> Headroom:
    """What mending a symptom would give in the units of the score, for rollouts as `those` gives them.

    If `hit` rollouts did as well as their task's others; if those failures were mended in which it is the `only` one;
    and if every hit that did not pass were. `estimable` is False for symptoms that are read from the verdict.
    """
    judged = run.passed | run.failed
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
