"""Two runs against each other, from their tables and diagnoses to one comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from blade.compare.cells import Classed, classed
from blade.compare.flips import flips_of
from blade.compare.held import held_fixed
from blade.compare.shifts import shifts_of
from blade.compare.slices import slices_of
from blade.compare.terms import terms_of
from blade.compare.traps import traps_of
from blade.compare.verdict import are_identical, change
from blade.core.analysis import RunAnalysis
from blade.core.comparison import Change, Comparison, Joined, Shift, Spent, Verdict
from blade.core.run import Run
from blade.metrics.counts import Counts, count
from blade.metrics.paired import Paired, compare_counts, compare_rewards
from blade.metrics.same_task import SameTasks, same_tasks

MARGIN = 0.02

Pairs = tuple[tuple[str, str], ...]


def compare(baseline: RunAnalysis, candidate: RunAnalysis, margin: float = MARGIN) -> Comparison:
    """The candidate against the baseline; where fewer than half of the tasks are shared the verdict is not-comparable."""
    runs = (baseline.run, candidate.run)
    same = same_tasks(runs[0].tasks, runs[1].tasks)
    joined = _joined(runs, same)
    both = {one.metrics.headline for one in (baseline, candidate)}
    headline = "pass_at_1" if both == {"pass_at_1"} else "mean_reward"
    counts = (count(runs[0]), count(runs[1]))
    floor = _floor(runs, headline)
    cells = classed(*runs, same.pairs, headline, floor)
    own = (_own(counts[0], headline, floor), _own(counts[1], headline, floor))
    expected = _expected(cells, runs, same, headline, margin)
    held = held_fixed(*runs, same.pairs)
    transitions, flips = flips_of(*runs, same.pairs)
    moves = (transitions.get(("never", "always"), 0), transitions.get(("always", "never"), 0))
    slices = slices_of(runs, cells, same.pairs)
    return Comparison(
        baseline=runs[0],
        candidate=runs[1],
        headline=headline,
        joined=joined,
        own=own,
        expected=expected,
        judged=_judged(counts, same.pairs, headline, margin, runs),
        ledger=terms_of(cells, runs, own, slices) if same.pairs and None not in own else (),
        held=held,
        transitions=transitions,
        flips=flips,
        slices=slices,
        shifts=_shifts(baseline, candidate, same.pairs),
        spent=_spent(baseline, candidate),
        traps=traps_of(runs, joined, held, expected, moves),
        margin=margin,
    )


def _shifts(baseline: RunAnalysis, candidate: RunAnalysis, pairs: Pairs) -> tuple[Shift, ...]:
    before, after = baseline.diagnosis, candidate.diagnosis
    return shifts_of((baseline.run, candidate.run), (before, after), pairs) if before and after else ()


def _joined(runs: tuple[Run, Run], same: SameTasks) -> Joined:
    known = [{pair[side] for pair in same.pairs} for side in (0, 1)]
    only = [tuple(t for t in run.tasks["task_id"] if t not in mine) for run, mine in zip(runs, known, strict=True)]
    return Joined(
        pairs=same.pairs,
        only_baseline=only[0],
        only_candidate=only[1],
        joined_by=same.joined_by,
        key_changed=tuple(a for a, _ in same.key_changed),
        unproven=len(same.unproven),
        id_conflict=same.id_conflict,
    )


def _floor(runs: tuple[Run, Run], headline: str) -> float:
    """What an unjudged cell is worth: 0, or the lowest reward of either run where rewards are averaged and it is negative."""
    if headline == "pass_at_1":
        return 0.0
    lows = [low for run in runs if isinstance(low := run.rollouts["reward"].min(), int | float)]
    return float(min([0.0, *lows]))


def _own(counts: Counts, headline: str, floor: float) -> float | None:
    """The all-expected score of a run on its own tasks."""
    kept = counts.expected > 0
    if not kept.any():
        return None
    tops = counts.passed if headline == "pass_at_1" else counts.reward_sum + floor * (counts.expected - counts.judged)
    return float(np.mean(tops[kept] / counts.expected[kept]))


def _expected(cells: Classed, runs: tuple[Run, Run], same: SameTasks, headline: str, margin: float) -> Change:
    """All expected rollouts of joined tasks."""
    tops = [side.worth.sum(axis=1) for side in (cells.baseline, cells.candidate)]
    sizes = [side.count.sum(axis=1) for side in (cells.baseline, cells.candidate)]
    paired = _paired(tops, sizes, headline, runs)
    scores = _means(tops, sizes)
    if not same.comparable:
        why = f"only {len(same.pairs)} of {min(run.tasks.height for run in runs)} tasks of the smaller run are in the other"
        found = change(paired, scores, margin, identical=False)
        return Change(**{**found.__dict__, "verdict": Verdict.NOT_COMPARABLE, "because": why})
    return change(paired, scores, margin, identical=are_identical(*runs, same.pairs))


def _judged(counts: tuple[Counts, Counts], pairs: Pairs, headline: str, margin: float, runs: tuple[Run, Run]) -> Change:
    """Judged rollouts of joined tasks that have some in both runs."""
    tops, sizes = [], []
    for side, mine in enumerate(counts):
        places = {task: place for place, task in enumerate(mine.tasks)}
        order = np.asarray([places[pair[side]] for pair in pairs], dtype=np.int64)
        tops.append(np.asarray(mine.passed if headline == "pass_at_1" else mine.reward_sum, dtype=float)[order])
        sizes.append(mine.judged[order].astype(float))
    kept = (sizes[0] > 0) & (sizes[1] > 0)
    tops, sizes = [side[kept] for side in tops], [side[kept] for side in sizes]
    return change(_paired(tops, sizes, headline, runs), _means(tops, sizes), margin, identical=False)


def _paired(
    tops: Sequence[np.ndarray],
    sizes: Sequence[np.ndarray],
    headline: str,
    runs: tuple[Run, Run],
) -> Paired:
    if headline == "pass_at_1":
        whole = [np.rint(side).astype(np.int64) for side in (*tops, *sizes)]
        return compare_counts(whole[0], whole[2], whole[1], whole[3])
    rewards = pl.concat([run.rollouts["reward"] for run in runs]).drop_nulls()
    span = float(rewards.max() or 0.0) - float(rewards.min() or 0.0) if len(rewards) else 1.0  # type: ignore[arg-type]
    return compare_rewards(tops[0] / sizes[0], tops[1] / sizes[1], span=max(span, 1e-9))


def _means(tops: Sequence[np.ndarray], sizes: Sequence[np.ndarray]) -> tuple[float, float] | None:
    if not len(tops[0]):
        return None
    return float(np.mean(tops[0] / sizes[0])), float(np.mean(tops[1] / sizes[1]))


def _spent(baseline: RunAnalysis, candidate: RunAnalysis) -> tuple[Spent, ...]:
    """Means a rollout of what both or one of the runs record."""
    means = [{usage.name: usage.mean for usage in one.metrics.usage} for one in (baseline, candidate)]
    names = [
        name for name in ("input_tokens", "output_tokens", "seconds", "cost", "calls") if any(name in m for m in means)
    ]
    return tuple(Spent(name=name, baseline=means[0].get(name), candidate=means[1].get(name)) for name in names)
