"""The ledger: it adds up in exact arithmetic, step by step, on random tasks and on one that is worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.stats.ledger import Cells, ledger

CLASSES = ("missing", "infrastructure", "limits", "format", "behavior:X")
TERMS = ("missing", "infrastructure", "verifier", "limits", "format", "behavior:X", "unexplained")
Cell = tuple[int, int, int]
"""Class, worth, output."""


def cells(tasks: list[list[Cell]], other: list[list[Cell]]) -> Cells:
    """The counts of cells, with verdicts on outputs that the other run gave too."""
    shape = (len(tasks), len(CLASSES) + 1)
    count, worth, regraded = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for place, (mine, theirs) in enumerate(zip(tasks, other, strict=True)):
        for class_, value, output in mine:
            same = [v for _, v, o in theirs if o == output]
            count[place, class_] += 1
            worth[place, class_] += value
            regraded[place, class_] += float(Fraction(sum(same), len(same))) if same else value
    return Cells(count=count, worth=worth, regraded=regraded)


def by_definition(mine: list[Cell], theirs: list[Cell]) -> list[Fraction]:
    """Score before, and after each step, of one task in rationals, straight from the definition."""

    def shares(of: list[Cell]) -> list[Fraction | None]:
        found: list[Fraction | None] = []
        for place in range(len(CLASSES)):
            reach = [cell for cell in of if cell[0] >= place]
            found.append(Fraction(sum(cell[0] == place for cell in reach), len(reach)) if reach else None)
        return found

    def means(of: list[tuple[int, Fraction]]) -> list[Fraction | None]:
        groups = [[value for class_, value in of if class_ == place] for place in range(len(CLASSES) + 1)]
        return [sum(group, Fraction(0)) / len(group) if group else None for group in groups]

    def fill(one: Sequence[Fraction | None], two: Sequence[Fraction | None]) -> list[Fraction]:
        return [a if a is not None else b if b is not None else Fraction(0) for a, b in zip(one, two, strict=True)]

    def score(h: list[Fraction], v: list[Fraction]) -> Fraction:
        total, left = Fraction(0), Fraction(1)
        for share, mean in zip(h, v, strict=False):
            total += left * share * mean
            left *= 1 - share
        return total + left * v[-1]

    def verdict(cell: Cell) -> Fraction:
        same = [other[1] for other in theirs if other[2] == cell[2]]
        return Fraction(sum(same), len(same)) if same else Fraction(cell[1])

    h0, h1 = fill(shares(mine), shares(theirs)), fill(shares(theirs), shares(mine))
    plain = means([(cell[0], Fraction(cell[1])) for cell in mine])
    final = means([(cell[0], Fraction(cell[1])) for cell in theirs])
    v0, v1 = fill(plain, final), fill(final, plain)
    again = fill(means([(cell[0], verdict(cell)) for cell in mine]), v1)
    walked = [score(h0, v0)]
    h, v = list(h0), v0
    for place, name in enumerate(CLASSES):
        h[place] = h1[place]
        walked.append(score(h, v))
        if name == "infrastructure":
            v = again
            walked.append(score(h, v))
    return [*walked, score(h1, v1)]


CELL = st.tuples(st.integers(0, len(CLASSES)), st.integers(0, 1), st.integers(0, 4)).map(
    lambda cell: (cell[0], 0 if cell[0] == 0 else cell[1], cell[2])
)
TASK = st.tuples(st.lists(CELL, min_size=1, max_size=5), st.lists(CELL, min_size=1, max_size=5))


@settings(max_examples=300, deadline=None)
@given(st.lists(TASK, min_size=1, max_size=6))
def test_every_step_is_the_definition_in_rationals(tasks: list[tuple[list[Cell], list[Cell]]]) -> None:
    mine, theirs = [a for a, _ in tasks], [b for _, b in tasks]
    found = ledger(CLASSES, cells(mine, theirs), cells(theirs, mine))
    assert found.terms == TERMS
    exact = [by_definition(a, b) for a, b in tasks]
    for step, score in enumerate(found.scores):
        assert score == pytest.approx(float(sum(walk[step] for walk in exact) / len(exact)), abs=1e-12)
    ends = [Fraction(sum(value for _, value, _ in cells_), len(cells_)) for cells_ in (*mine, *theirs)]
    before, after = ends[: len(mine)], ends[len(mine) :]
    assert found.scores[0] == pytest.approx(float(sum(before) / len(before)), abs=1e-12)
    assert float(found.points.sum()) == pytest.approx(float((sum(after) - sum(before)) / len(mine)), abs=1e-12)


def test_an_outage_is_infrastructure_and_nothing_else() -> None:
    # Four rollouts, three passed. In the candidate one of the passes and the failure errored: 3/4 becomes 2/4. With
    # half of the cells lost and the rest as good as before, 3/4 x 1/2 = 3/8 is left; the clean ones did better.
    before, after = [(5, 1, 1), (5, 1, 2), (5, 1, 3), (5, 0, 4)], [(5, 1, 1), (5, 1, 2), (1, 0, 9), (1, 0, 9)]
    found = ledger(CLASSES, cells([before], [after]), cells([after], [before]))
    terms = dict(zip(found.terms, found.points.tolist(), strict=True))
    assert terms["infrastructure"] == pytest.approx(3 / 8 - 3 / 4)
    assert terms["unexplained"] == pytest.approx(2 / 4 - 3 / 8)
    assert sum(terms.values()) == pytest.approx(-1 / 4)


def test_the_same_outputs_judged_otherwise_are_the_verifiers() -> None:
    before, after = [(5, 1, 1), (5, 0, 2)], [(5, 0, 1), (5, 0, 2)]
    found = ledger(CLASSES, cells([before], [after]), cells([after], [before]))
    terms = dict(zip(found.terms, found.points.tolist(), strict=True))
    assert terms["verifier"] == pytest.approx(-1 / 2)
    assert terms["unexplained"] == 0
