"""Two runs against each other, from their tables and diagnoses to one comparison."""

from __future__ import annotations

from blade.comparison.cells import classed
from blade.comparison.change import expected_change, floor_of, headline_of, judged_change, own_score
from blade.comparison.flips import flips_of
from blade.comparison.held_fixed import held_fixed
from blade.comparison.ledger_terms import terms_of
from blade.comparison.shifts import shifts_of
from blade.comparison.slices import slices_of
from blade.comparison.traps import traps_of
from blade.comparison.values import Comparison, Joined, Shift, Spent
from blade.model.analysis import RunAnalysis
from blade.model.run import Run
from blade.stats.task_matching import SameTasks, same_tasks

MARGIN = 0.02

Pairs = tuple[tuple[str, str], ...]


def compare(baseline: RunAnalysis, candidate: RunAnalysis, margin: float = MARGIN) -> Comparison:
    """The candidate against the baseline; where fewer than half of the tasks are shared the verdict is not-comparable."""
    runs = (baseline.run, candidate.run)
    same = same_tasks(runs[0].tasks, runs[1].tasks)
    joined = _joined(runs, same)
    headline = headline_of(runs)
    floor = floor_of(runs, headline)
    cells = classed(*runs, same.pairs, headline, floor)
    own = (own_score(runs[0], headline, floor), own_score(runs[1], headline, floor))
    expected = expected_change(runs, same, headline, floor, margin)
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
        judged=judged_change(runs, same, headline, margin),
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


def _spent(baseline: RunAnalysis, candidate: RunAnalysis) -> tuple[Spent, ...]:
    """Means a rollout of what both or one of the runs record."""
    means = [{usage.name: usage.mean for usage in one.metrics.usage} for one in (baseline, candidate)]
    names = [
        name for name in ("input_tokens", "output_tokens", "seconds", "cost", "calls") if any(name in m for m in means)
    ]
    return tuple(Spent(name=name, baseline=means[0].get(name), candidate=means[1].get(name)) for name in names)
