"""The verdict on a difference: the first rule of the definition that applies."""

from __future__ import annotations

import polars as pl

from blade.comparison.values import Change, Verdict
from blade.model.run import Run
from blade.stats.paired import Paired

FEWEST_TASKS = 5
SIGNIFICANT = 0.05


def change(paired: Paired, scores: tuple[float, float] | None, margin: float, *, identical: bool) -> Change:
    """A difference with its verdict; `identical`: both runs gave the same outputs and rewards."""
    verdict, because = _verdict(paired, margin, identical)
    before, after = scores if scores is not None else (None, None)
    return Change(
        baseline=before,
        candidate=after,
        delta=paired.delta,
        interval=paired.interval,
        interval90=paired.interval90,
        p_value=paired.p_value,
        method=paired.method,
        n=paired.n,
        mde=paired.mde,
        equivalence_bound=paired.equivalence_bound,
        verdict=verdict,
        because=because,
        identical=identical,
        reason=paired.reason,
    )


def _verdict(paired: Paired, margin: float, identical: bool) -> tuple[Verdict, str]:
    if paired.n < FEWEST_TASKS or paired.delta is None or paired.p_value is None:
        return Verdict.INCONCLUSIVE, f"{paired.n} shared task{'' if paired.n == 1 else 's'}, and at least 5 are needed"
    if identical:
        return Verdict.EQUIVALENT, "every task has the same outputs and rewards in both runs"
    narrow = paired.interval90
    if narrow is not None and -margin <= narrow.low and narrow.high <= margin:
        real = narrow.low > 0 or narrow.high < 0
        small = f"the 90 % interval lies within {margin * 100:g} points"
        return Verdict.EQUIVALENT, f"real, but smaller than your margin: {small}" if real else small
    if paired.p_value <= SIGNIFICANT:
        found = Verdict.IMPROVED if paired.delta > 0 else Verdict.REGRESSED
        return found, f"p = {paired.p_value:.2g} over {paired.n} tasks"
    return Verdict.INCONCLUSIVE, f"p = {paired.p_value:.2g}, and the interval is wider than {margin * 100:g} points"


def are_identical(baseline: Run, candidate: Run, pairs: tuple[tuple[str, str], ...]) -> bool:
    """Whether each joined task has the same outputs with the same rewards, none of them empty."""
    sides = [_told(run, [pair[side] for pair in pairs]) for side, run in enumerate((baseline, candidate))]
    return all(side is not None for side in sides) and sides[0] == sides[1]


def _told(run: Run, tasks: list[str]) -> list[list[tuple[int, float]]] | None:
    """For each task the sorted outputs and rewards; None where an output is empty or a reward is missing."""
    rows = run.rollouts.select("task_id", "output_fp", "reward")
    if rows["output_fp"].null_count() or rows["reward"].null_count():
        return None
    by_task: dict[str, list[tuple[int, float]]] = {task: [] for task in tasks}
    for task, output, reward in rows.filter(pl.col("task_id").is_in(tasks)).iter_rows():
        by_task[task].append((output, reward))
    return [sorted(by_task[task]) for task in tasks]
