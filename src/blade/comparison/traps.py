"""What would mislead a reader who only saw two scores: each trap is named, with what shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from blade.comparison.held_fixed import CHANGED
from blade.comparison.values import HeldFixed, Pairs, ScoreChange, TaskPairing, Transition
from blade.model.run import Run
from blade.stats.counts import JUDGED, count
from blade.stats.pass_at_k import usual_repeats
from blade.stats.special_functions import log_choose

BEST_OF = ("best_of", "best_of_n", "n_samples", "num_samples", "num_candidates", "n_candidates", "num_attempts")
SURE = 0.01
"""The chance below which tasks that one run lacks are no random choice."""
CLOSE = 0.9
"""Share of the unjudged rollouts that must stand in one stretch twice as long as they are many."""
MOST_LOST = 0.4
"""Above this share of unjudged rows, a stretch twice as long is nearly the whole file and shows nothing."""
FEWEST_LOST = 5
MOST_NAMED = 6


def traps_of(
    runs: tuple[Run, Run],
    pairs: Pairs,
    pairing: TaskPairing,
    verifier: HeldFixed,
    expected: ScoreChange,
    transitions: Sequence[Transition],
) -> tuple[str, ...]:
    """The traps that this pair holds, in sentences."""
    return (
        *_best_of(runs),
        *_retried_only(runs, pairs, pairing),
        *_duplicates(runs),
        *_outage(runs),
        *_ids(pairs, pairing),
        *_expected_answers(pairing),
        *_regraded(verifier),
        *_hidden(expected, transitions),
    )


def _best_of(runs: tuple[Run, Run]) -> Iterator[str]:
    for run in runs:
        stated = [(name, run.settings[name]) for name in BEST_OF if run.settings.get(name, "1") not in ("1", "0")]
        attempts = run.rollouts["attempt"].drop_nulls()
        if usual_repeats(count(run)) != 1:
            continue
        if stated:
            name, value = stated[0]
            yield f"{run.name} records {name} {value} and one rollout a task: it looks like the best of several, not like single runs"
        elif retried := int((attempts > 0).sum()):
            yield f"{run.name}: {retried} rollouts are a second attempt or later; tries that failed before them are not counted"


def _retried_only(runs: tuple[Run, Run], pairs: Pairs, pairing: TaskPairing) -> Iterator[str]:
    """One run holds only tasks on which the other did badly."""
    for side, missing in enumerate((pairing.only_baseline, pairing.only_candidate)):
        run, other = runs[side], runs[1 - side]
        solved = dict(_solved(run))
        shared = [solved[pair[side]] for pair in pairs if pair[side] in solved]
        alone = [solved[task] for task in missing if task in solved]
        if not alone or not shared or sum(shared) / len(shared) >= sum(alone) / len(alone):
            continue
        if _chance(sum(shared), len(shared), sum(alone), len(alone)) < SURE:
            yield (
                f"{other.name} has only {len(shared)} of the {len(solved)} tasks of {run.name}, and {run.name} solves {sum(shared)} "
                f"of those against {sum(alone)} of the other {len(alone)}: it looks like a file of tasks that were tried again"
            )


def _solved(run: Run) -> Iterator[tuple[str, bool]]:
    judged = run.rollouts.filter(JUDGED)
    yield from judged.group_by("task_id").agg((pl.col("outcome") == "passed").any()).sort("task_id").iter_rows()


def _chance(a: int, n: int, b: int, m: int) -> float:
    """Chance of at most `a` passes among `n` when `a + b` passes fall on `n + m` tasks at random."""
    passes, total = a + b, n + m
    drawn = np.arange(max(0, passes - m), a + 1)
    ways = log_choose(n, drawn) + log_choose(m, passes - drawn) - log_choose(total, np.array([passes]))
    return float(np.exp(ways).sum())


def _duplicates(runs: tuple[Run, Run]) -> Iterator[str]:
    for run in runs:
        if run.duplicates:
            yield f"{run.name} holds {run.duplicates} rows that repeat a rollout; they are left out"


def _outage(runs: tuple[Run, Run]) -> Iterator[str]:
    """Unjudged rollouts that stand close together in the file: something was down for a while."""
    for run in runs:
        rows = run.rollouts.filter(pl.col("line").is_not_null()).sort("artifact", "line")
        lost = rows["outcome"].is_in(["errored", "unscored"]).to_numpy()
        total = int(lost.sum())
        if total < FEWEST_LOST or total >= MOST_LOST * len(lost):
            continue
        width = 2 * total
        inside = np.convolve(lost, np.ones(width), "valid") if len(lost) >= width else np.asarray([])
        if len(inside) and inside.max() >= CLOSE * total:
            start = int(inside.argmax())
            yield f"{run.name}: {int(inside.max())} of {total} unjudged rollouts stand within {width} of {len(lost)} rows (from line {rows['line'][start]}): it looks like an outage"


def _ids(pairs: Pairs, pairing: TaskPairing) -> Iterator[str]:
    moved = [(a, b) for a, b in pairs if a != b]
    if pairing.id_conflict:
        named = ", ".join(pairing.id_conflict[:MOST_NAMED])
        yield f"{len(pairing.id_conflict)} ids stand for another task in the other run ({named}): they are joined by content, not by id"
    elif len(moved) > len(pairs) / 2:
        a, b = moved[0]
        yield f"{len(moved)} of {len(pairs)} shared tasks have another id in the candidate ({a} is {b}): they are joined by content"


def _expected_answers(pairing: TaskPairing) -> Iterator[str]:
    if pairing.unproven:
        yield f"{pairing.unproven} of {pairing.shared} shared tasks are joined by id alone: nothing proves that they are the same"
    if pairing.key_changed:
        named = ", ".join(pairing.key_changed[:MOST_NAMED])
        yield f"the key of {len(pairing.key_changed)} shared tasks changed ({named})"


def _regraded(verifier: HeldFixed) -> Iterator[str]:
    if verifier.state == CHANGED and verifier.note:
        yield f"{verifier.note}: one of the runs was graded otherwise"


def _hidden(expected: ScoreChange, transitions: Sequence[Transition]) -> Iterator[str]:
    moves = {(one.before, one.after): one.tasks for one in transitions}
    better, worse = moves.get(("never", "always"), 0), moves.get(("always", "never"), 0)
    if expected.verdict in ("equivalent", "inconclusive", "improved") and worse and better:
        yield f"the mean hides {worse} tasks that went from always passing to never, and {better} the other way"
