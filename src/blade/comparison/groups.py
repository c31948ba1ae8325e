"""Several runs: which of them cannot be told apart on the tasks that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from blade.model.run import Run
from blade.stats.counts import count
from blade.stats.paired import compare_rewards
from blade.stats.task_matching import same_tasks

SIGNIFICANT = 0.05


def told_apart(runs: Sequence[Run]) -> list[tuple[str, float | None, str]]:
    """Each run with its all-expected score on the shared tasks, best first, and letters: a shared one cannot be told apart."""
    scores = _scores(runs)
    if scores.shape[1] == 0:
        return [(run.name, None, "") for run in runs]
    pairs = list(combinations(range(len(runs)), 2))
    p = [compare_rewards(scores[a], scores[b], span=1.0).p_value or 1.0 for a, b in pairs]
    apart = {pair for pair, value in zip(pairs, _holm(p), strict=True) if value <= SIGNIFICANT}
    groups = _groups(len(runs), apart)
    order = sorted(range(len(runs)), key=lambda run: (-float(scores[run].mean()), runs[run].name))
    groups.sort(key=lambda group: sorted(order.index(run) for run in group))
    letters = {run: "".join(ascii_lowercase[n % 26] for n, group in enumerate(groups) if run in group) for run in order}
    return [(runs[run].name, float(scores[run].mean()), letters[run]) for run in order]


def _scores(runs: Sequence[Run]) -> np.ndarray:
    """A row a run, a column a task that all runs share."""
    names = {task: [task] for task in runs[0].tasks["task_id"]}
    for run in runs[1:]:
        other = dict(same_tasks(runs[0].tasks, run.tasks).pairs)
        names = {task: [*mine, other[task]] for task, mine in names.items() if task in other}
    rows = []
    for place, run in enumerate(runs):
        counts = count(run)
        places = {task: number for number, task in enumerate(counts.tasks)}
        rows.append([counts.passed[places[n[place]]] / counts.expected[places[n[place]]] for n in names.values()])
    return np.asarray(rows, dtype=float).reshape(len(runs), len(names))


def _holm(p_values: Sequence[float]) -> list[float]:
    """Step-down corrected p-values, in the order given."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected, highest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def _groups(size: int, apart: set[tuple[int, int]]) -> list[frozenset[int]]:
    """The largest sets of runs no two of which are apart: sets are split at each pair, and those inside others go."""
    groups = {frozenset(range(size))}
    for a, b in sorted(apart):
        split = {part for group in groups for part in ((group - {a}, group - {b}) if {a, b} <= group else (group,))}
        groups = {group for group in split if not any(group < other for other in split)}
    return sorted(groups, key=sorted)
