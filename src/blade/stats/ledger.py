"""The change of a score taken apart into steps that add up to it exactly; the definition is docs/report.md.

Every expected rollout of a task, a cell, has one class: the first symptom of an ordered list that it carries, or none
(clean). What reaches a class has a share `h` in it, and the cells of a class a mean `v`. The baseline's quantities are
replaced by the candidate's one at a time; a term is what that does to the task's score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.model.measure import Interval
from blade.stats.intervals import mean_interval

Floats = npt.NDArray[np.float64]

MISSING = "missing"
INFRASTRUCTURE = "infrastructure"
VERIFIER = "verifier"
UNEXPLAINED = "unexplained"
TASK_SET = "task_set"


class Cells(Struct, frozen=True, kw_only=True, eq=False):
    """The expected rollouts of one run on the joined tasks, counted: a row a task, a column a class, clean last."""

    count: Floats
    worth: Floats
    """Sum of what the cells are worth: 1 for a pass, or their reward."""
    regraded: Floats
    """The same, where the verdict of every output that the other run also gave is the other run's mean verdict on it."""


class Ledger(Struct, frozen=True, kw_only=True, eq=False):
    """Terms in order, the score after each of them, and what each task contributes."""

    terms: tuple[str, ...]
    points: Floats
    """By term: its mean over tasks."""
    scores: Floats
    """The baseline's score on joined tasks, then the score after each term."""
    by_task: Floats
    """A row a task, a column a term."""

    def interval(self, term: str) -> Interval | None:
        """t limits over the tasks' contributions; None where they cannot be had."""
        return mean_interval(self.by_task[:, self.terms.index(term)], 0.95)


class _Quantities(Struct, frozen=True, kw_only=True, eq=False):
    """Shares and means of one run; what it does not define is nan."""

    shares: Floats
    means: Floats

    @property
    def scores(self) -> Floats:
        """Each task's score."""
        reached = np.cumprod(np.hstack((np.ones((len(self.shares), 1)), 1 - self.shares)), axis=1)
        weights = np.hstack((reached[:, :-1] * self.shares, reached[:, -1:]))
        return np.asarray((weights * self.means).sum(axis=1))


def ledger(classes: Sequence[str], baseline: Cells, candidate: Cells) -> Ledger:
    """The walk from the baseline's score to the candidate's on joined tasks.

    `classes` names the columns but for the last, which is clean; the first two are missing and infrastructure.
    """
    before, after = _filled(_quantities(baseline, baseline.worth), _quantities(candidate, candidate.worth))
    regraded, _ = _filled(_quantities(baseline, baseline.regraded), after)
    walk = list(_walk(classes, before, regraded.means, after))
    scores = np.column_stack([before.scores, *(quantities.scores for _, quantities in walk)])
    by_task = np.diff(scores, axis=1)
    return Ledger(
        terms=tuple(term for term, _ in walk),
        points=by_task.mean(axis=0),
        scores=scores.mean(axis=0),
        by_task=by_task,
    )


def _walk(
    classes: Sequence[str], before: _Quantities, regraded: Floats, after: _Quantities
) -> Iterator[tuple[str, _Quantities]]:
    """Each term with the quantities after its step."""
    shares, means = before.shares.copy(), before.means
    for place, name in enumerate(classes):
        shares = shares.copy()
        shares[:, place] = after.shares[:, place]
        yield name, _Quantities(shares=shares, means=means)
        if name == INFRASTRUCTURE:
            means = regraded
            yield VERIFIER, _Quantities(shares=shares, means=means)
    yield UNEXPLAINED, after


def _quantities(cells: Cells, worth: Floats) -> _Quantities:
    count = cells.count
    reaching = np.cumsum(count[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return _Quantities(shares=count[:, :-1] / reaching[:, :-1], means=worth / count)


def _filled(one: _Quantities, two: _Quantities) -> tuple[_Quantities, _Quantities]:
    """Both with what they do not define taken from the other; what neither defines has no weight, and is zero."""
    return _from(one, two), _from(two, one)


def _from(one: _Quantities, other: _Quantities) -> _Quantities:
    def fill(mine: Floats, theirs: Floats) -> Floats:
        return np.nan_to_num(np.where(np.isnan(mine), theirs, mine), nan=0.0)

    return _Quantities(shares=fill(one.shares, other.shares), means=fill(one.means, other.means))
