"""What would mislead a reader who only saw two scores: each trap is named, with what shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from blade.comparison.values import Change, Held, Joined
from blade.model.run import Run
from blade.stats.counts import count
from blade.stats.pass_at_k import usual_repeats
from blade.stats.special_functions import log_choose

BEST_OF = ("best_of", "best_of_n", "n_samples", "num_samples", "num_candidates", "n_candidates", "num_attempts")
SURE = 0.01
OUTAGE = 0.5
"""Share of the unjudged rollouts of a run that stand in one stretch of lines, for it to be an outage."""
FEWEST_LOST = 5
MOST_NAMED = 6


def traps_of(
    runs: tuple[Run, Run], joined: Joined, held: Sequence[Held], expected: Change, moves: tuple[int, int]
) -> tuple[str, ...]:
    """The traps that this pair holds; `moves` are tasks that got surely better, and worse."""
    found: list[str] = []
    for check in (_best_of, _retried_only, _duplicates, _outage):
        found += check(runs, joined)
    return (*found, *_ids(joined), *_keys(joined), *_regraded(held), *_hidden(expected, moves))


def _best_of(runs: tuple[Run, Run], joined: Joined) -> Iterator[str]:
    for run in runs:
        said = [(name, run.settings[name]) for name in BEST_OF if run.settings.get(name, "1") not in ("1", "0")]
        attempts = run.rollouts["attempt"].drop_nulls()
        if said and usual_repeats(count(run)) == 1:
            name, value = said[0]
            yield f"{run.name} records {name} {value} and one rollout a task: it looks like the best of several, not like single runs"
        elif len(attempts) and usual_repeats(count(run)) == 1 and bool((attempts > 0).any()):
            kept = int((attempts > 0).sum())
            yield f"{run.name}: {kept} rollouts are a second attempt or later; tries that failed before them are not counted"


def _retried_only(runs: tuple[Run, Run], joined: Joined) -> Iterator[str]:
    """One run holds only tasks on which the other did badly."""
    for run, other, missing, side in (
        (runs[0], runs[1], joined.only_baseline, 0),
        (runs[1], runs[0], joined.only_candidate, 1),
    ):
        mine = {task: bool(passed) for task, passed in _solved(run)}
        shared = [mine[pair[side]] for pair in joined.pairs if pair[side] in mine]
        alone = [mine[task] for task in missing if task in mine]
        if not alone or not shared or sum(shared) / len(shared) >= sum(alone) / len(alone):
            continue
        if _chance(sum(shared), len(shared), sum(alone), len(alone)) < SURE:
            yield (
                f"{other.name} has only {len(shared)} of the {len(mine)} tasks of {run.name}, and {run.name} solves {sum(shared)} "
                f"of those against {sum(alone)} of the other {len(alone)}: it looks like a file of tasks that were tried again"
            )


def _solved(run: Run) -> Iterator[tuple[str, float]]:
    judged = run.rollouts.filter(pl.col("outcome").is_in(["passed", "failed"]))
    yield from judged.group_by("task_id").agg((pl.col("outcome") == "passed").any()).sort("task_id").iter_rows()


def _chance(a: int, n: int, b: int, m: int) -> float:
    """Chance of at most `a` passes among `n` when `a + b` passes fall on `n + m` tasks at random."""
    passes, total = a + b, n + m
    drawn = np.arange(max(0, passes - m), a + 1)
    ways = log_choose(n, drawn) + log_choose(m, passes - drawn) - log_choose(total, np.array([passes]))
    return float(np.exp(ways).sum())


def _duplicates(runs: tuple[Run, Run], joined: Joined) -> Iterator[str]:
    for run in runs:
        if run.duplicates:
            yield f"{run.name} holds {run.duplicates} rows that repeat a rollout; they are left out"


def _outage(runs: tuple[Run, Run], joined: Joined) -> Iterator[str]:
    """Unjudged rollouts that stand close together in the file: something was down for a while."""
    for run in runs:
        rows = run.rollouts.filter(pl.col("line").is_not_null()).sort("artifact", "line")
        lost = rows["outcome"].is_in(["errored", "unscored"]).to_numpy()
        total = int(lost.sum())
        if total < FEWEST_LOST or total > OUTAGE * len(lost):
            continue
        width = 2 * total
        inside = np.convolve(lost, np.ones(width), "valid") if len(lost) >= width else np.asarray([])
        if len(inside) and inside.max() >= 0.9 * total and total / len(lost) < 0.4:
            start = int(inside.argmax())
            yield f"{run.name}: {int(inside.max())} of {total} unjudged rollouts stand within {width} of {len(lost)} rows (from line {rows['line'][start]}): it looks like an outage"


def _ids(joined: Joined) -> Iterator[str]:
    moved = [(a, b) for a, b in joined.pairs if a != b]
    if joined.id_conflict:
        named = ", ".join(joined.id_conflict[:MOST_NAMED])
        yield f"{len(joined.id_conflict)} ids stand for another task in the other run ({named}): they are joined by content, not by id"
    elif moved and len(moved) > len(joined.pairs) / 2:
        a, b = moved[0]
        yield f"{len(moved)} of {len(joined.pairs)} shared tasks have another id in the candidate ({a} is {b}): they are joined by content"


def _keys(joined: Joined) -> Iterator[str]:
    if joined.unproven:
        yield f"{joined.unproven} of {len(joined.pairs)} shared tasks are joined by id alone: nothing proves that they are the same"
    if joined.key_changed:
        named = ", ".join(joined.key_changed[:MOST_NAMED])
        yield f"the key of {len(joined.key_changed)} shared tasks changed ({named})"


def _regraded(held: Sequence[Held]) -> Iterator[str]:
    verifier = next(one for one in held if one.aspect == "verifier")
    if verifier.state == "changed" and verifier.note:
        yield f"{verifier.note}: one of the runs was graded otherwise"


def _hidden(expected: Change, moves: tuple[int, int]) -> Iterator[str]:
    better, worse = moves
    if expected.verdict in ("equivalent", "inconclusive", "improved") and worse and better:
        yield f"the mean hides {worse} tasks that went from always passing to never, and {better} the other way"
