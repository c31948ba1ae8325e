"""The change of the score between two runs, with its verdict; and which of several runs cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from string import ascii_lowercase
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import asdict, replace

from blade.comparison.values import ComparisonVerdict, Limits, Pairs, ScoreChange
from blade.model.measure import Interval
from blade.model.run import Run
from blade.stats.counts import TaskCounts, count
from blade.stats.headline import headline, lowest
from blade.stats.paired import Paired, compare_counts, compare_rewards
from blade.stats.task_matching import SameTasks, same_tasks

FEWEST_TASKS = 5
"""With fewer shared tasks no verdict is given; docs/report.md defines it."""
SIGNIFICANT = 0.05


def headline_of(runs: tuple[Run, Run]) -> str:
    """pass@1 where both runs are judged so, else mean reward."""
    return "pass_at_1" if all(headline(run)[0] == "pass_at_1" for run in runs) else "mean_reward"


def floor_of(runs: tuple[Run, Run], kind: str) -> float:
    """What an unjudged cell is worth: 0, or the lowest reward of either run where rewards are averaged and it is negative."""
    return 0.0 if kind == "pass_at_1" else min(map(lowest, runs))


def own_score(run: Run, kind: str, floor: float) -> float | None:
    """The all-expected score of a run on its own tasks."""
    counts = count(run)
    expected = counts.expected > 0
    if not expected.any():
        return None
    return float(np.mean(_sums(counts, kind, floor)[expected] / counts.expected[expected]))


def expected_change(runs: tuple[Run, Run], same: SameTasks, kind: str, floor: float, margin: float) -> ScoreChange:
    """All expected rollouts of joined tasks; not-comparable where fewer than half of the smaller run's tasks are joined."""
    sides = [_of_joined(count(run), same.pairs, side) for side, run in enumerate(runs)]
    sums = [_sums(counts, kind, floor) for counts in sides]
    sizes = [counts.expected.astype(float) for counts in sides]
    if same.comparable:
        return _change(sums, sizes, kind, runs, margin, identical=_are_identical(runs, same.pairs))
    change = _change(sums, sizes, kind, runs, margin)
    smaller = min(run.tasks.height for run in runs)
    why = f"only {len(same.pairs)} of {smaller} tasks of the smaller run are in the other"
    return replace(change, verdict=ComparisonVerdict.NOT_COMPARABLE, because=why)


def judged_change(runs: tuple[Run, Run], same: SameTasks, kind: str, margin: float) -> ScoreChange:
    """Judged rollouts of joined tasks that have some in both runs."""
    sides = [_of_joined(count(run), same.pairs, side) for side, run in enumerate(runs)]
    judged = (sides[0].judged > 0) & (sides[1].judged > 0)
    sums = [np.asarray(one.passed if kind == "pass_at_1" else one.reward_sum, dtype=float)[judged] for one in sides]
    sizes = [one.judged.astype(float)[judged] for one in sides]
    return _change(sums, sizes, kind, runs, margin)


def _of_joined(counts: TaskCounts, pairs: Pairs, side: int) -> TaskCounts:
    """The counts of the joined tasks only, in the order of the pairs."""
    numbers = {task: number for number, task in enumerate(counts.tasks)}
    order = np.asarray([numbers[pair[side]] for pair in pairs], dtype=np.int64)
    joined: dict[str, Any] = {
        name: value[order] if isinstance(value, np.ndarray) else value for name, value in asdict(counts).items()
    }
    return TaskCounts(**{**joined, "tasks": tuple(pair[side] for pair in pairs), "groups": None})


def _sums(counts: TaskCounts, kind: str, floor: float) -> np.ndarray:
    """By task: what all its expected rollouts are worth together."""
    if kind == "pass_at_1":
        return counts.passed.astype(float)
    return np.asarray(counts.reward_sum + floor * (counts.expected - counts.judged))


def _change(
    sums: Sequence[np.ndarray],
    sizes: Sequence[np.ndarray],
    kind: str,
    runs: tuple[Run, Run],
    margin: float,
    *,
    identical: bool = False,
) -> ScoreChange:
    """The difference of the means over tasks, tested; `identical`: both runs gave the same outputs and rewards."""
    if kind == "pass_at_1":
        before, after, before_of, after_of = (np.rint(side).astype(np.int64) for side in (*sums, *sizes))
        paired = compare_counts(before, before_of, after, after_of)
    else:
        rewards = pl.concat([run.rollouts["reward"] for run in runs]).drop_nulls()
        span = float(rewards.max() or 0.0) - float(rewards.min() or 0.0) if len(rewards) else 1.0  # type: ignore[arg-type]
        paired = compare_rewards(sums[0] / sizes[0], sums[1] / sizes[1], span=max(span, 1e-9))
    means = [float(np.mean(side / size)) if len(side) else None for side, size in zip(sums, sizes, strict=True)]
    verdict, because = _verdict(paired, margin, identical)
    return ScoreChange(
        baseline=means[0],
        candidate=means[1],
        delta=paired.delta,
        verdict=verdict,
        ci=limits(paired.interval),
        ci90=limits(paired.interval90),
        p_value=paired.p_value,
        method=paired.method,
        mde=paired.mde,
        equivalence_bound=paired.equivalence_bound,
        n=paired.n,
        reason=paired.reason,
        because=because,
        identical=identical,
    )


def limits(interval: Interval | None) -> Limits | None:
    """Both ends of an interval."""
    return (interval.low, interval.high) if interval is not None else None


def _verdict(paired: Paired, margin: float, identical: bool) -> tuple[ComparisonVerdict, str]:
    """The first rule of the definition that applies, with why."""
    if paired.n < FEWEST_TASKS or paired.delta is None or paired.p_value is None:
        because = f"{paired.n} shared task{'' if paired.n == 1 else 's'}, and at least 5 are needed"
        return ComparisonVerdict.INCONCLUSIVE, because
    if identical:
        return ComparisonVerdict.EQUIVALENT, "every task has the same outputs and rewards in both runs"
    narrow = paired.interval90
    if narrow is not None and -margin <= narrow.low and narrow.high <= margin:
        real = narrow.low > 0 or narrow.high < 0
        small = f"the 90 % interval lies within {margin * 100:g} points"
        return ComparisonVerdict.EQUIVALENT, f"real, but smaller than your margin: {small}" if real else small
    if paired.p_value <= SIGNIFICANT:
        verdict = ComparisonVerdict.IMPROVED if paired.delta > 0 else ComparisonVerdict.REGRESSED
        return verdict, f"p = {paired.p_value:.2g} over {paired.n} tasks"
    because = f"p = {paired.p_value:.2g}, and the interval is wider than {margin * 100:g} points"
    return ComparisonVerdict.INCONCLUSIVE, because


def _are_identical(runs: tuple[Run, Run], pairs: Pairs) -> bool:
    """Whether each joined task has the same outputs with the same rewards, none of them empty."""
    sides = []
    for side, run in enumerate(runs):
        rows = run.rollouts.select("task_id", "output_fp", "reward")
        if rows["output_fp"].null_count() or rows["reward"].null_count():
            return False
        by_task: dict[str, list[tuple[int, float]]] = {pair[side]: [] for pair in pairs}
        for task, output, reward in rows.filter(pl.col("task_id").is_in(list(by_task))).iter_rows():
            by_task[task].append((output, reward))
        sides.append([sorted(by_task[pair[side]]) for pair in pairs])
    return sides[0] == sides[1]


def letters_of_runs(runs: Sequence[Run]) -> list[tuple[str, float | None, str]]:
    """Each run with its all-expected score on the shared tasks, best first, and letters: runs that share one cannot be told apart."""
    scores = _scores_on_shared_tasks(runs)
    if scores.shape[1] == 0:
        return [(run.name, None, "") for run in runs]
    pairs = list(combinations(range(len(runs)), 2))
    p_values = [compare_rewards(scores[a], scores[b], span=1.0).p_value or 1.0 for a, b in pairs]
    differ = {pair for pair, p_value in zip(pairs, _holm(p_values), strict=True) if p_value <= SIGNIFICANT}
    order = sorted(range(len(runs)), key=lambda run: (-float(scores[run].mean()), runs[run].name))
    groups = _groups(len(runs), differ)
    groups.sort(key=lambda group: sorted(order.index(run) for run in group))
    letters = {run: "".join(ascii_lowercase[n % 26] for n, group in enumerate(groups) if run in group) for run in order}
    return [(runs[run].name, float(scores[run].mean()), letters[run]) for run in order]


def _scores_on_shared_tasks(runs: Sequence[Run]) -> np.ndarray:
    """A row a run, a column a task that all runs share."""
    names = {task: [task] for task in runs[0].tasks["task_id"]}
    for run in runs[1:]:
        other = dict(same_tasks(runs[0].tasks, run.tasks).pairs)
        names = {task: [*known, other[task]] for task, known in names.items() if task in other}
    rows = []
    for number, run in enumerate(runs):
        counts = count(run)
        columns = {task: column for column, task in enumerate(counts.tasks)}
        tasks = [columns[known[number]] for known in names.values()]
        rows.append([counts.passed[task] / counts.expected[task] for task in tasks])
    return np.asarray(rows, dtype=float).reshape(len(runs), len(names))


def _holm(p_values: Sequence[float]) -> list[float]:
    """Step-down corrected p-values, in the order given."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected, highest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def _groups(size: int, differ: set[tuple[int, int]]) -> list[frozenset[int]]:
    """The largest sets of runs no two of which differ: sets are split at each pair, and those inside others go."""
    groups = {frozenset(range(size))}
    for a, b in sorted(differ):
        split = {part for group in groups for part in ((group - {a}, group - {b}) if {a, b} <= group else (group,))}
        groups = {group for group in split if not any(group < other for other in split)}
    return sorted(groups, key=sorted)
