"""What several runs say of each other: which tasks are the same, how each did on them, what other runs know of a task.

What rereads rollouts is imported where it is used: numbers alone need none of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Between, Elsewhere
from blade.model.run import Run
from blade.stats.task_matching import may_be_comparable, same_tasks

if TYPE_CHECKING:
    from blade.evidence.alignment import AlignedTrajectory

MOST_PAIRS = 6
"""Pairs of runs whose tasks are set against each other."""
MOST_SHOWN = 3

Pairs = Sequence[tuple[str, str]]


class SideBySide(Struct, frozen=True, kw_only=True):
    """Runs of one benchmark, and what each says about the tasks of the others."""

    same: Mapping[tuple[str, str], Pairs]
    """By the names of two runs that can be compared: the tasks that are the same in both."""
    pairs: Sequence[tuple[Run, Run, Pairs]] = ()
    """The first of these whose rollouts are set against each other; none where only numbers are wanted."""
    elsewhere: Mapping[str, Elsewhere] = {}
    """By run: what the others say about its tasks."""

    def between(self) -> tuple[Between, ...]:
        """For each pair: the tasks that one solves and the other does not, and where the two part."""
        return tuple(between(*pair) for pair in self.pairs)

    def shared_scores(self, analyzed: Sequence[RunAnalysis]) -> dict[tuple[str, str], tuple[int, float, float]]:
        """For each two runs whose tasks are the same: how many, and the mean task score of each on them."""
        shared = {}
        for first, second in combinations(analyzed, 2):
            pairs = self.same.get((first.run.name, second.run.name))
            if pairs is None:
                continue
            by_reward = first.metrics.headline == second.metrics.headline == "mean_reward"
            left, right = (
                {task.task_id: task.mean_reward if by_reward else task.score for task in each.tasks}
                for each in (first, second)
            )
            both = [(a, b) for x, y in pairs if (a := left[x]) is not None and (b := right[y]) is not None]
            if both:
                means = np.mean(np.asarray(both), axis=0)
                shared[first.run.name, second.run.name] = (len(both), float(means[0]), float(means[1]))
        return shared


def side_by_side(runs: Sequence[Run], *, diagnose: bool) -> SideBySide:
    """Runs with the tasks that they share; with `diagnose` also what they know of each other's tasks."""
    likely = [(one, two) for one, two in combinations(runs, 2) if may_be_comparable(one.tasks, two.tasks)]
    matches = {(one.name, two.name): same_tasks(one.tasks, two.tasks) for one, two in likely}
    same = {names: match.pairs for names, match in matches.items() if match.comparable}
    first = list(combinations(runs, 2))[:MOST_PAIRS] if diagnose else []
    pairs = [(one, two, same[one.name, two.name]) for one, two in first if (one.name, two.name) in same]
    if not pairs:
        return SideBySide(same=same)
    from blade.evidence.other_runs import elsewhere

    return SideBySide(same=same, pairs=pairs, elsewhere=elsewhere(runs, pairs))


def between(first: Run, second: Run, pairs: Pairs) -> Between:
    """For tasks joined as `pairs`: those that every judged rollout of one run passes and none of the other."""
    left, right = _passes(first), _passes(second)
    only_first = [(a, b) for a, b in pairs if left.get(a) == 1.0 and right.get(b) == 0.0]
    only_second = [(a, b) for a, b in pairs if left.get(a) == 0.0 and right.get(b) == 1.0]
    return Between(
        first=first.name,
        second=second.name,
        shared=len(pairs),
        only_first=tuple(a for a, _ in only_first),
        only_second=tuple(a for a, _ in only_second),
        divergences=(
            *_parted(first, second, only_first),
            *_parted(second, first, [(b, a) for a, b in only_second]),
        ),
    )


def _passes(run: Run) -> dict[str, float]:
    judged = run.rollouts.select("task_id", "outcome").filter(pl.col("outcome").is_in(["passed", "failed"]))
    return dict(judged.group_by("task_id").agg((pl.col("outcome") == "passed").mean()).iter_rows())


def _parted(solver: Run, other: Run, pairs: Pairs) -> list[tuple[str, str]]:
    """Where the other run's first failure leaves the way of the solver's first pass; the name is the failing run's."""
    from blade.evidence.contrast import diverge
    from blade.findings.examples import divergence_in_words

    shown = pairs[:MOST_SHOWN]
    won = _first(solver, [a for a, _ in shown], "passed")
    lost = _first(other, [b for _, b in shown], "failed")
    both = [(good, bad) for good, bad in zip(won, lost, strict=True) if good.steps and bad.steps]
    texts = [divergence_in_words(diverge(bad, good))[0] for good, bad in both]
    return [(other.name, text.replace("; passing ", f"; {solver.name} passes: ")) for text in texts]


def _first(run: Run, tasks: Sequence[str], outcome: str) -> list[AlignedTrajectory]:
    from blade.evidence.alignment import AlignedTrajectory

    rows = run.rollouts.select("task_id", "repeat", "outcome")
    mine = rows.filter((pl.col("outcome") == outcome) & pl.col("task_id").is_in(list(tasks)))
    first = dict(mine.group_by("task_id", maintain_order=True).agg(pl.col("repeat").first()).iter_rows())
    found = run.read(run, [(task, first[task]) for task in tasks]) if run.read is not None and tasks else []
    return [AlignedTrajectory(rollout=rollout) for rollout in found]
