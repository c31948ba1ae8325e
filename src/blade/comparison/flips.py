"""Tasks that changed their bucket, with a rollout of each run that shows it, and where the two part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from blade.comparison.values import Flip
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.contrast import diverge
from blade.findings.examples import divergence_in_words
from blade.model.run import Run

MOST_READ = 12
"""Flips whose rollouts are read again."""
_ORDER = ("always", "sometimes", "never", "missing")


def flips_of(
    baseline: Run, candidate: Run, pairs: Sequence[tuple[str, str]]
) -> tuple[dict[tuple[str, str], int], tuple[Flip, ...]]:
    """Tasks by bucket before and after, and those whose bucket changed, the largest change first."""
    before, after = _passes(baseline), _passes(candidate)
    moves = [(a, b, before[a], after[b]) for a, b in pairs]
    counted = Counter((_bucket(x), _bucket(y)) for _, _, x, y in moves)
    transitions = {(x, y): counted[x, y] for x in _ORDER for y in _ORDER if counted[x, y]}
    moved = [move for move in moves if _bucket(move[2]) != _bucket(move[3])]
    moved.sort(key=lambda move: -abs(_share(move[3]) - _share(move[2])))
    found = [_flip(baseline, candidate, *move) for move in moved]
    read = _partings(baseline, candidate, found[:MOST_READ])
    return transitions, (*read, *found[MOST_READ:])


def _passes(run: Run) -> dict[str, tuple[int, int]]:
    """By task: passes and judged rollouts."""
    judged = pl.col("outcome").is_in(["passed", "failed"])
    rows = run.rollouts.group_by("task_id").agg((pl.col("outcome") == "passed").sum(), judged.sum().alias("judged"))
    return {task: (passed, total) for task, passed, total in rows.iter_rows()}


def _bucket(passes: tuple[int, int]) -> str:
    passed, total = passes
    if not total:
        return "missing"
    return "always" if passed == total else "never" if not passed else "sometimes"


def _share(passes: tuple[int, int]) -> float:
    return passes[0] / passes[1] if passes[1] else 0.0


def _flip(baseline: Run, candidate: Run, a: str, b: str, before: tuple[int, int], after: tuple[int, int]) -> Flip:
    worse = _share(after) < _share(before)
    shown = (_place(baseline, a, passed=worse), _place(candidate, b, passed=not worse))
    return Flip(
        task_id=a,
        candidate_id=b,
        before=_bucket(before),
        after=_bucket(after),
        baseline_passed=f"{before[0]} of {before[1]}",
        candidate_passed=f"{after[0]} of {after[1]}",
        places=tuple(place for place in shown if place),
    )


def _place(run: Run, task: str, *, passed: bool) -> str:
    """The first rollout of the task with an outcome; empty when there is none."""
    wanted = "passed" if passed else "failed"
    rows = run.rollouts.filter((pl.col("task_id") == task) & (pl.col("outcome") == wanted))
    return f"{task}#{rows['repeat'][0]}" if rows.height else ""


def _partings(baseline: Run, candidate: Run, flips: Sequence[Flip]) -> list[Flip]:
    """The flips with where the failing rollout leaves the way of the passing one, where both have steps."""
    walks = {
        side: _read(run, [flip.places[side] for flip in flips if len(flip.places) == 2])
        for side, run in enumerate((baseline, candidate))
    }
    return [_parted(flip, walks, (baseline.name, candidate.name)) for flip in flips]


def _read(run: Run, places: Sequence[str]) -> dict[str, AlignedTrajectory]:
    keys = [(task, int(repeat)) for task, _, repeat in (place.rpartition("#") for place in places)]
    found = run.read(run, keys) if run.read is not None and keys else []
    return {place: AlignedTrajectory(rollout=rollout) for place, rollout in zip(places, found, strict=False)}


def _parted(flip: Flip, walks: Mapping[int, Mapping[str, AlignedTrajectory]], names: tuple[str, str]) -> Flip:
    sides = [walks[side].get(place) for side, place in enumerate(flip.places)] if len(flip.places) == 2 else []
    if len(sides) != 2 or any(side is None or not side.steps for side in sides):
        return flip
    won = next(side for side in sides if side is not None and side.passed)
    lost = next(side for side in sides if side is not None and not side.passed)
    solver = names[0] if won is sides[0] else names[1]
    told = divergence_in_words(diverge(lost, won))[0].replace("; passing ", f"; {solver} passes: ")
    return replace(flip, parting=told)
