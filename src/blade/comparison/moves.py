"""What moved between two runs: tasks that changed their bucket, slices, and modes and rules that grew or shrank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from msgspec.structs import replace

from blade.comparison.ledger import ClassedCells
from blade.comparison.values import Flip, Pairs, Shift, SliceChange, Transition
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.contrast import diverge
from blade.findings.examples import divergence_in_words
from blade.model.diagnosis import Diagnosis, Mode, RuleStatistics
from blade.model.run import Run
from blade.stats.association import benjamini_hochberg
from blade.stats.counts import JUDGED, fired
from blade.stats.paired import compare_counts, compare_rewards

MOST_READ = 12
"""Flips whose rollouts are read again: as many as the report shows."""
FEWEST_TASKS = 5
"""A slice of fewer joined tasks is not tested."""
FEWEST_ROLLOUTS = 2
"""Rollouts that a mode or a rule needs in one of the runs before it is listed."""
_BUCKETS = ("always", "sometimes", "never", "missing")

Passes = tuple[int, int]
"""Passes and judged rollouts of a task."""


def moved_tasks(runs: tuple[Run, Run], pairs: Pairs) -> tuple[tuple[Transition, ...], tuple[Flip, ...]]:
    """Tasks by bucket before and after, and those whose bucket changed, the largest change first."""
    before, after = map(_passes, runs)
    moves = [(a, b, before[a], after[b]) for a, b in pairs]
    counts = Counter((_bucket(was), _bucket(now)) for _, _, was, now in moves)
    transitions = tuple(
        Transition(before=was, after=now, tasks=counts[was, now])
        for was in _BUCKETS
        for now in _BUCKETS
        if counts[was, now]
    )
    moved = [move for move in moves if _bucket(move[2]) != _bucket(move[3])]
    moved.sort(key=lambda move: -abs(_share(move[3]) - _share(move[2])))
    flips = [_flip(runs, *move) for move in moved]
    return transitions, (*_with_partings(runs, flips[:MOST_READ]), *flips[MOST_READ:])


def _passes(run: Run) -> dict[str, Passes]:
    rows = run.rollouts.group_by("task_id").agg((pl.col("outcome") == "passed").sum(), JUDGED.sum().alias("judged"))
    return {task: (passed, judged) for task, passed, judged in rows.iter_rows()}


def _bucket(passes: Passes) -> str:
    passed, judged = passes
    if not judged:
        return "missing"
    return "always" if passed == judged else "never" if not passed else "sometimes"


def _share(passes: Passes) -> float:
    return passes[0] / passes[1] if passes[1] else 0.0


def _flip(runs: tuple[Run, Run], task: str, candidate_task: str, before: Passes, after: Passes) -> Flip:
    worse = _share(after) < _share(before)
    shown = []
    for run, id_, outcome in zip(
        runs, (task, candidate_task), ("passed", "failed") if worse else ("failed", "passed"), strict=True
    ):
        rows = run.rollouts.filter((pl.col("task_id") == id_) & (pl.col("outcome") == outcome))
        shown += [f"{id_}#{rows['repeat'][0]}"] if rows.height else []
    return Flip(
        task_id=task,
        candidate_id=candidate_task,
        before=_bucket(before),
        after=_bucket(after),
        baseline_passed=f"{before[0]} of {before[1]}",
        candidate_passed=f"{after[0]} of {after[1]}",
        locations=tuple(shown),
    )


def _with_partings(runs: tuple[Run, Run], flips: Sequence[Flip]) -> list[Flip]:
    """The flips with where the failing rollout leaves the way of the passing one, where both have steps."""
    aligned = [
        _aligned(run, [flip.locations[side] for flip in flips if len(flip.locations) == 2])
        for side, run in enumerate(runs)
    ]
    return [_with_parting(flip, aligned, runs) for flip in flips]


def _aligned(run: Run, locations: Sequence[str]) -> dict[str, AlignedTrajectory]:
    keys = [(task, int(repeat)) for task, _, repeat in (location.rpartition("#") for location in locations)]
    rollouts = run.read(run, keys) if run.read is not None and keys else []
    return {
        location: AlignedTrajectory(rollout=rollout) for location, rollout in zip(locations, rollouts, strict=False)
    }


def _with_parting(flip: Flip, aligned: Sequence[Mapping[str, AlignedTrajectory]], runs: tuple[Run, Run]) -> Flip:
    sides = [known[at] for known, at in zip(aligned, flip.locations, strict=False) if at in known and known[at].steps]
    if len(flip.locations) != 2 or len(sides) != 2:
        return flip
    won = next(number for number, side in enumerate(sides) if side.passed)
    words = divergence_in_words(diverge(sides[1 - won], sides[won]))[0]
    return replace(flip, parting=words.replace("; passing ", f"; {runs[won].name} passes: "))


def slice_changes(runs: tuple[Run, Run], cells: ClassedCells, pairs: Pairs) -> tuple[SliceChange, ...]:
    """Every value of a slice field with at least five joined tasks, tested in one family; the baseline's fields decide."""
    if not pairs:
        return ()
    before, after = (side.worth.sum(axis=1) / side.count.sum(axis=1) for side in (cells.baseline, cells.candidate))
    tasks = runs[0].tasks
    made: list[SliceChange] = []
    for name in (name for name in tasks.columns if name == "key_expects" or name.startswith("slice.")):
        of_task = dict(tasks.select("task_id", name).iter_rows())
        values = np.asarray([of_task[task] or "" for task, _ in pairs])
        for value in sorted(set(values.tolist()) - {""}):
            here = values == value
            if here.sum() < FEWEST_TASKS or here.all():
                continue
            change = SliceChange(
                field=name.removeprefix("slice."),
                value=value,
                tasks=int(here.sum()),
                baseline=float(before[here].mean()),
                candidate=float(after[here].mean()),
                p_value=compare_rewards(before[here], after[here], span=1.0).p_value,
                q_value=None,
            )
            made.append(change)
    q_values = benjamini_hochberg([change.p_value or 1.0 for change in made]) if made else ()
    return tuple(replace(change, q_value=float(q_value)) for change, q_value in zip(made, q_values, strict=True))


def shifts_of(runs: tuple[Run, Run], diagnoses: tuple[Diagnosis, Diagnosis], pairs: Pairs) -> tuple[Shift, ...]:
    """Modes and rules that grew or shrank, most surely first; tested over joined tasks in one family."""
    rows = [*_mode_shifts(runs, diagnoses, pairs), *_rule_shifts(runs, diagnoses, pairs)]
    tested = [p_value for _, p_value in rows if p_value is not None]
    q_values = iter(benjamini_hochberg(tested)) if tested else iter(())
    made = [replace(shift, q_value=float(next(q_values)) if p_value is not None else None) for shift, p_value in rows]
    return tuple(sorted(made, key=lambda one: (one.q_value if one.q_value is not None else 2.0, -_gap(one), one.id)))


def _gap(shift: Shift) -> float:
    before = shift.baseline / shift.baseline_of if shift.baseline_of else 0.0
    after = shift.candidate / shift.candidate_of if shift.candidate_of else 0.0
    return abs(after - before)


def _mode_shifts(
    runs: tuple[Run, Run], diagnoses: tuple[Diagnosis, Diagnosis], pairs: Pairs
) -> Iterator[tuple[Shift, float | None]]:
    modes: dict[str, Mode] = {mode.id: mode for one in diagnoses for mode in one.partition.modes}
    for id_ in sorted(modes):
        hits = [one.partition.table.filter(pl.col("mode") == id_) for one in diagnoses]
        yield from _shift("mode", id_, modes[id_].name, "by itself a failure", runs, hits, pairs)


def _rule_shifts(
    runs: tuple[Run, Run], diagnoses: tuple[Diagnosis, Diagnosis], pairs: Pairs
) -> Iterator[tuple[Shift, float | None]]:
    by_code: dict[str, list[RuleStatistics]] = {}
    for statistics in (statistics for one in diagnoses for statistics in one.rule_statistics):
        by_code.setdefault(statistics.code, []).append(statistics)
    for code, both in sorted(by_code.items()):
        hits = [run.rollouts.filter(JUDGED & fired([code])) for run in runs]
        supports = " and ".join(dict.fromkeys(str(each.support) for each in both if each.fired)) or "not seen"
        yield from _shift("rule", code, both[0].message, supports, runs, hits, pairs)


def _shift(
    kind: str, id_: str, name: str, matters: str, runs: tuple[Run, Run], hits: Sequence[pl.DataFrame], pairs: Pairs
) -> Iterator[tuple[Shift, float | None]]:
    """The shift with its p-value; nothing where hardly a rollout has it."""
    joined = [[pair[side] for pair in pairs] for side in (0, 1)]
    before, after = (_per_task(rows, tasks) for rows, tasks in zip(hits, joined, strict=True))
    before_of, after_of = (
        _per_task(run.rollouts.filter(JUDGED), tasks) for run, tasks in zip(runs, joined, strict=True)
    )
    baseline, candidate = int(before.sum()), int(after.sum())
    if max(baseline, candidate) < FEWEST_ROLLOUTS:
        return
    both = (before_of > 0) & (after_of > 0)
    paired = compare_counts(before[both], before_of[both], after[both], after_of[both]) if both.any() else None
    shift = Shift(
        kind=kind,
        id=id_,
        name=name,
        baseline=baseline,
        candidate=candidate,
        baseline_of=int(before_of.sum()),
        candidate_of=int(after_of.sum()),
        is_new=baseline == 0,
        is_gone=candidate == 0,
        q_value=None,
        matters=matters,
    )
    yield shift, paired.p_value if paired is not None else None


def _per_task(rows: pl.DataFrame, tasks: Sequence[str]) -> np.ndarray:
    counts = dict(rows.group_by("task_id").len().iter_rows())
    return np.asarray([counts.get(task, 0) for task in tasks], dtype=np.int64)
