"""What other runs of a benchmark say about the tasks of a run: that they can be passed, or that all models err alike."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.core.diagnosis import Elsewhere
from blade.core.run import Run
from blade.metrics.counts import JUDGED, PASSED

FEWEST_KINDS = 10
"""Different answers that a run must give before two answers that are the same say anything."""
COMMON = 0.1
"""An answer to more than this share of the tasks is one that agrees by chance."""

Pairs = Sequence[tuple[str, str]]


def elsewhere(runs: Sequence[Run], same: Sequence[tuple[Run, Run, Pairs]]) -> dict[str, Elsewhere]:
    """For each run by name; `same` are pairs of runs with the tasks that are the same in both."""
    passed: dict[str, set[str]] = {run.name: set() for run in runs}
    models: dict[str, dict[str, set[str]]] = {run.name: {} for run in runs}
    won = {run.name: set(run.rollouts.filter(PASSED)["task_id"]) for run in runs}
    wrong = {run.name: _wrong(run) for run in runs}
    for one, two, pairs in (each for a, b, both in same for each in ((a, b, both), (b, a, _turned(both)))):
        for mine, other in pairs:
            if other in won[two.name]:
                passed[one.name].add(mine)
            elif _differ(one, two) and wrong[one.name].get(mine, -1) == wrong[two.name].get(other, -2):
                models[one.name].setdefault(mine, set()).add(two.model or two.name)
    return {
        run.name: Elsewhere(
            passed=frozenset(passed[run.name]),
            same_wrong={t: len(named) for t, named in sorted(models[run.name].items()) if t not in passed[run.name]},
        )
        for run in runs
    }


def _turned(pairs: Pairs) -> Pairs:
    return [(other, mine) for mine, other in pairs]


def _differ(one: Run, two: Run) -> bool:
    """Whether two runs are of two models, so that what they share is not one model's habit."""
    return one.model is not None and two.model is not None and one.model != two.model


def _wrong(run: Run) -> dict[str, int]:
    """By task that no rollout passes: the fingerprint of the one answer that every judged rollout gives, if it is rare."""
    tasks = (
        run.rollouts.filter(JUDGED)
        .group_by("task_id")
        .agg(
            lost=~PASSED.any(),
            kinds=pl.col("answer_fp").n_unique(),
            unknown=pl.col("answer_fp").null_count(),
            answer=pl.col("answer_fp").first(),
        )
    )
    share = pl.len().over("answer") / max(1, tasks.height)
    alike = (pl.col("kinds") == 1) & (pl.col("unknown") == 0)
    if tasks["answer"].n_unique() < FEWEST_KINDS:
        return {}
    return dict(tasks.filter(alike & pl.col("lost") & (share <= COMMON)).select("task_id", "answer").iter_rows())
