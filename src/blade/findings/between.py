"""Tasks that one model solves and another does not, and where the two part; model and behavior cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.contrast import diverge
from blade.findings.examples import divergence_in_words
from blade.model.diagnosis import Between
from blade.model.run import Run

MOST_SHOWN = 3

Pairs = Sequence[tuple[str, str]]


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
    shown = pairs[:MOST_SHOWN]
    won = _first(solver, [a for a, _ in shown], "passed")
    lost = _first(other, [b for _, b in shown], "failed")
    both = [(good, bad) for good, bad in zip(won, lost, strict=True) if good.steps and bad.steps]
    texts = [divergence_in_words(diverge(bad, good))[0] for good, bad in both]
    return [(other.name, text.replace("; passing ", f"; {solver.name} passes: ")) for text in texts]


def _first(run: Run, tasks: Sequence[str], outcome: str) -> list[AlignedTrajectory]:
    rows = run.rollouts.select("task_id", "repeat", "outcome")
    mine = rows.filter((pl.col("outcome") == outcome) & pl.col("task_id").is_in(list(tasks)))
    first = dict(mine.group_by("task_id", maintain_order=True).agg(pl.col("repeat").first()).iter_rows())
    found = run.read(run, [(task, first[task]) for task in tasks]) if run.read is not None and tasks else []
    return [AlignedTrajectory(rollout=rollout) for rollout in found]
