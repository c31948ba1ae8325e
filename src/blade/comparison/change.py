"""The change of the score between two runs on the tasks that they share, over all expected rollouts and over judged ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import asdict

from blade.comparison.values import Change, Verdict
from blade.comparison.verdict import are_identical, change
from blade.model.run import Run
from blade.stats.counts import TaskCounts, count
from blade.stats.headline import headline, lowest
from blade.stats.paired import Paired, compare_counts, compare_rewards
from blade.stats.task_matching import SameTasks

Pairs = Sequence[tuple[str, str]]


def headline_of(runs: tuple[Run, Run]) -> str:
    """pass@1 where both runs are judged so, else mean reward."""
    return "pass_at_1" if all(headline(run)[0] == "pass_at_1" for run in runs) else "mean_reward"


def floor_of(runs: tuple[Run, Run], kind: str) -> float:
    """What an unjudged cell is worth: 0, or the lowest reward of either run where rewards are averaged and it is negative."""
    return 0.0 if kind == "pass_at_1" else min(map(lowest, runs))


def own_score(run: Run, kind: str, floor: float) -> float | None:
    """The all-expected score of a run on its own tasks."""
    counts = count(run)
    kept = counts.expected > 0
    if not kept.any():
        return None
    return float(np.mean(_tops(counts, kind, floor)[kept] / counts.expected[kept]))


def expected_change(runs: tuple[Run, Run], same: SameTasks, kind: str, floor: float, margin: float) -> Change:
    """All expected rollouts of joined tasks; not-comparable where fewer than half of the smaller run's tasks are joined."""
    sides = [_joined(count(run), same.pairs, side) for side, run in enumerate(runs)]
    tops = [_tops(counts, kind, floor) for counts in sides]
    sizes = [counts.expected.astype(float) for counts in sides]
    paired, scores = _paired(tops, sizes, kind, runs), _means(tops, sizes)
    if same.comparable:
        return change(paired, scores, margin, identical=are_identical(*runs, same.pairs))
    why = f"only {len(same.pairs)} of {min(run.tasks.height for run in runs)} tasks of the smaller run are in the other"
    found = change(paired, scores, margin, identical=False)
    return replace(found, verdict=Verdict.NOT_COMPARABLE, because=why)


def judged_change(runs: tuple[Run, Run], same: SameTasks, kind: str, margin: float) -> Change:
    """Judged rollouts of joined tasks that have some in both runs."""
    sides = [_joined(count(run), same.pairs, side) for side, run in enumerate(runs)]
    tops = [np.asarray(one.passed if kind == "pass_at_1" else one.reward_sum, dtype=float) for one in sides]
    sizes = [one.judged.astype(float) for one in sides]
    kept = (sizes[0] > 0) & (sizes[1] > 0)
    tops, sizes = [side[kept] for side in tops], [side[kept] for side in sizes]
    return change(_paired(tops, sizes, kind, runs), _means(tops, sizes), margin, identical=False)


def _joined(counts: TaskCounts, pairs: Pairs, side: int) -> TaskCounts:
    """The counts of the joined tasks only, in the order of the pairs."""
    places = {task: place for place, task in enumerate(counts.tasks)}
    order = np.asarray([places[pair[side]] for pair in pairs], dtype=np.int64)
    kept: dict[str, Any] = {
        name: value[order] if isinstance(value, np.ndarray) else value for name, value in asdict(counts).items()
    }
    return TaskCounts(**{**kept, "tasks": tuple(pair[side] for pair in pairs), "groups": None})


def _tops(counts: TaskCounts, kind: str, floor: float) -> np.ndarray:
    if kind == "pass_at_1":
        return counts.passed.astype(float)
    return np.asarray(counts.reward_sum + floor * (counts.expected - counts.judged))


def _paired(tops: Sequence[np.ndarray], sizes: Sequence[np.ndarray], kind: str, runs: tuple[Run, Run]) -> Paired:
    if kind == "pass_at_1":
        whole = [np.rint(side).astype(np.int64) for side in (*tops, *sizes)]
        return compare_counts(whole[0], whole[2], whole[1], whole[3])
    rewards = pl.concat([run.rollouts["reward"] for run in runs]).drop_nulls()
    span = float(rewards.max() or 0.0) - float(rewards.min() or 0.0) if len(rewards) else 1.0  # type: ignore[arg-type]
    return compare_rewards(tops[0] / sizes[0], tops[1] / sizes[1], span=max(span, 1e-9))


def _means(tops: Sequence[np.ndarray], sizes: Sequence[np.ndarray]) -> tuple[float, float] | None:
    if not len(tops[0]):
        return None
    return float(np.mean(tops[0] / sizes[0])), float(np.mean(tops[1] / sizes[1]))
