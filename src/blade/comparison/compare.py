"""Two runs against each other: from inputs, or from runs with their diagnoses, to one comparison."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.analysis import analyze, load
from blade.comparison.held_fixed import held_fixed
from blade.comparison.ledger import classify, ledger_terms
from blade.comparison.moves import moved_tasks, shifts_of, slice_changes
from blade.comparison.scores import expected_change, floor_of, headline_of, judged_change, own_score
from blade.comparison.traps import traps_of
from blade.comparison.values import Comparison, Spent, TaskPairing
from blade.ingest.load import told_apart
from blade.model.analysis import RunAnalysis
from blade.model.errors import RequestError
from blade.model.options import Options
from blade.model.run import Run
from blade.stats.task_matching import SameTasks, same_tasks

MARGIN = 0.02
"""Two points: smaller differences count as none unless the user says otherwise."""
_SPENT = ("input_tokens", "output_tokens", "seconds", "cost", "calls")


def compare(inputs: Sequence[str], options: Options, margin: float = MARGIN) -> tuple[Comparison, ...]:
    """The first run against each of the others; every input must hold one run."""
    return compare_loaded([load_one(each, options) for each in inputs], options, margin)


def compare_loaded(runs: Sequence[Run], options: Options, margin: float = MARGIN) -> tuple[Comparison, ...]:
    """The first run against each of the others; each run's attributions rest on what the others show of its tasks."""
    analyzed = analyze(told_apart(runs), options).runs
    return tuple(compare_analyzed(analyzed[0], other, margin) for other in analyzed[1:])


def load_one(path: str, options: Options) -> Run:
    """The one run that an input holds; raises where it holds none or several."""
    runs = load([path], options)
    if len(runs) != 1:
        names = ", ".join(run.name for run in runs)
        raise RequestError(f"{path} holds {len(runs)} runs: {names}", hint="give a file or folder with one run each")
    return runs[0]


def compare_analyzed(baseline: RunAnalysis, candidate: RunAnalysis, margin: float = MARGIN) -> Comparison:
    """The candidate against the baseline; where fewer than half of the tasks are shared the verdict is not-comparable."""
    runs = (baseline.run, candidate.run)
    same = same_tasks(runs[0].tasks, runs[1].tasks)
    pairing = _pairing(runs, same)
    headline = headline_of(runs)
    floor = floor_of(runs, headline)
    cells = classify(runs, same.pairs, headline, floor, (_attributed(baseline), _attributed(candidate)))
    own = (own_score(runs[0], headline, floor), own_score(runs[1], headline, floor))
    expected = expected_change(runs, same, headline, floor, margin)
    held = held_fixed(runs, same.pairs)
    transitions, flips = moved_tasks(runs, same.pairs)
    slices = slice_changes(runs, cells, same.pairs)
    diagnoses = (baseline.diagnosis, candidate.diagnosis)
    return Comparison(
        baseline=runs[0],
        candidate=runs[1],
        headline=headline,
        pairing=pairing,
        own=own,
        expected=expected,
        judged=judged_change(runs, same, headline, margin),
        ledger=ledger_terms(cells, runs, own, slices) if same.pairs and None not in own else (),
        held_fixed=held,
        transitions=transitions,
        flips=flips,
        slices=slices,
        shifts=shifts_of(runs, (diagnoses[0], diagnoses[1]), same.pairs) if diagnoses[0] and diagnoses[1] else (),
        spent=_spent(baseline, candidate),
        traps=traps_of(runs, same.pairs, pairing, held["verifier"], expected, transitions),
        margin=margin,
    )


def _attributed(one: RunAnalysis) -> pl.DataFrame | None:
    return one.attributions.table if one.attributions is not None else None


def _pairing(runs: tuple[Run, Run], same: SameTasks) -> TaskPairing:
    known = [{pair[side] for pair in same.pairs} for side in (0, 1)]
    only = [tuple(t for t in run.tasks["task_id"] if t not in joined) for run, joined in zip(runs, known, strict=True)]
    return TaskPairing(
        shared=len(same.pairs),
        only_baseline=only[0],
        only_candidate=only[1],
        joined_by=same.joined_by,
        key_changed=tuple(a for a, _ in same.key_changed),
        unproven=len(same.unproven),
        id_conflict=same.id_conflict,
    )


def _spent(baseline: RunAnalysis, candidate: RunAnalysis) -> dict[str, Spent]:
    """Means per rollout of what both or one of the runs record."""
    before, after = ({usage.name: usage.mean for usage in one.metrics.usage} for one in (baseline, candidate))
    recorded = [name for name in _SPENT if name in before or name in after]
    return {name: Spent(baseline=before.get(name), candidate=after.get(name)) for name in recorded}
