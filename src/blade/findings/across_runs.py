"""What several runs say of each other: which tasks are the same, how each did on them, what other runs know of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Between, Elsewhere
from blade.model.run import Run
from blade.stats.task_matching import may_be_comparable, same_tasks

MOST_PAIRS = 6
"""Pairs of runs whose tasks are set against each other."""

Pairs = Sequence[tuple[str, str]]
Same = Mapping[tuple[str, str], Pairs]


def same_tasks_by_pair(runs: Sequence[Run]) -> Same:
    """By the names of two runs that can be compared: the tasks that are the same in both."""
    likely = [(one, two) for one, two in combinations(runs, 2) if may_be_comparable(one.tasks, two.tasks)]
    matches = {(one.name, two.name): same_tasks(one.tasks, two.tasks) for one, two in likely}
    return {names: same.pairs for names, same in matches.items() if same.comparable}


def side_by_side(runs: Sequence[Run], same: Same) -> list[tuple[Run, Run, Pairs]]:
    """Pairs of runs that have the same tasks, with the tasks; of the first pairs, up to a number."""
    pairs = list(combinations(runs, 2))[:MOST_PAIRS]
    return [(one, two, same[one.name, two.name]) for one, two in pairs if (one.name, two.name) in same]


def elsewhere_by_run(runs: Sequence[Run], beside: Sequence[tuple[Run, Run, Pairs]]) -> Mapping[str, Elsewhere]:
    """By run: what the others say about its tasks."""
    if not beside:
        return {}
    from blade.evidence.other_runs import elsewhere

    return elsewhere(runs, beside)


def between_runs(beside: Sequence[tuple[Run, Run, Pairs]]) -> tuple[Between, ...]:
    """For each pair: the tasks that one solves and the other does not, and where the two part."""
    if not beside:
        return ()
    from blade.findings.between import between

    return tuple(between(*pair) for pair in beside)


def shared_scores(analyzed: Sequence[RunAnalysis], same: Same) -> dict[tuple[str, str], tuple[int, float, float]]:
    """For each pair of runs whose tasks are the same: how many, and the mean task score of each on them."""
    shared = {}
    for first, second in combinations(analyzed, 2):
        pairs = same.get((first.run.name, second.run.name))
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
