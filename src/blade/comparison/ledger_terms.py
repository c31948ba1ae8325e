"""The ledger in words: every term with its points, limits, counts, places and the score after it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.comparison.cells import BEHAVIOR, Classed
from blade.comparison.values import SliceChange, Term
from blade.model.run import Run
from blade.rules.catalog import rollout_rules
from blade.stats.ledger import TASK_SET, UNEXPLAINED, VERIFIER, Ledger, ledger

EXACT = 1e-12
MOST_REFS = 8
_MOVED = 1e-12
WHAT = {
    "missing": "were expected and never written",
    "infrastructure": "errored, have no reward, or failed by the machinery",
    "limits": "were cut by a limit of tokens, steps or time",
    "format": "handed in no answer that the verifier could take",
}


def terms_of(
    cells: Classed, runs: tuple[Run, Run], own: tuple[float | None, float | None], slices: tuple[SliceChange, ...]
) -> tuple[Term, ...]:
    """All terms in order; they sum to the change on each run's own tasks, to rounding of floats."""
    before, after = float(own[0] or 0.0), float(own[1] or 0.0)
    found = ledger(cells.classes, cells.baseline, cells.candidate)
    task_set = (after - before) - float(found.points.sum())
    terms = [_task_set(task_set, before, runs)]
    score = before + task_set
    for place, name in enumerate(found.terms):
        points = float(found.points[place])
        score += points
        terms.append(_term(name, points, score, found, cells, slices if name == UNEXPLAINED else ()))
    if abs(sum(term.points for term in terms) - (after - before)) > EXACT * max(1.0, abs(before), abs(after)):
        raise AssertionError("the ledger does not add up")
    return tuple(terms)


def _task_set(points: float, before: float, runs: tuple[Run, Run]) -> Term:
    sizes = [run.tasks.height for run in runs]
    return Term(
        term=TASK_SET,
        points=points,
        interval=None,
        rollouts=0,
        tasks=abs(sizes[1] - sizes[0]),
        score_after=before + points,
        what=f"tasks that only one of the runs has ({sizes[0]} against {sizes[1]} in all)",
    )


def _term(
    name: str, points: float, score: float, found: Ledger, cells: Classed, slices: tuple[SliceChange, ...]
) -> Term:
    moved = found.by_task[:, found.terms.index(name)]
    mine = _cells_of(name, cells)
    return Term(
        term=name,
        points=points,
        interval=found.interval(name),
        rollouts=mine.height,
        tasks=int((abs(moved) > _MOVED).sum()),
        score_after=score,
        what=_what(name, mine, cells),
        places=_places(mine),
        slices=slices,
    )


def _cells_of(name: str, cells: Classed) -> pl.DataFrame:
    """The cells that a term is about: those of its class, or those whose outputs both runs gave, or clean ones."""
    table = cells.table
    if name in cells.classes:
        return table.filter(pl.col("class") == cells.classes.index(name))
    if name == VERIFIER:
        known = table.filter(pl.col("output_fp").is_not_null() & pl.col("outcome").is_in(["passed", "failed"]))
        both = known.group_by("task", "output_fp").agg(
            sides=pl.col("side").n_unique(),
            gap=(
                pl.col("worth").filter(pl.col("side") == 1).mean() - pl.col("worth").filter(pl.col("side") == 0).mean()
            ),
        )
        judged = both.filter((pl.col("sides") == 2) & (pl.col("gap").abs() > _MOVED))
        return known.join(judged, on=["task", "output_fp"], how="semi", maintain_order="left")
    return table.filter(pl.col("class") == len(cells.classes))


def _what(name: str, mine: pl.DataFrame, cells: Classed) -> str:
    sides = [mine.filter(pl.col("side") == side).height for side in (0, 1)]
    of = [cells.table.filter(pl.col("side") == side).height for side in (0, 1)]
    counts = f"{sides[0]} of {of[0]} rollouts before, {sides[1]} of {of[1]} after"
    if name in WHAT:
        return f"{counts} {WHAT[name]}"
    if name.startswith(BEHAVIOR):
        code = name.removeprefix(BEHAVIOR)
        message = next((rule.message for rule in rollout_rules() if rule.code == code), code)
        return f"{counts}: {message}"
    if name == VERIFIER:
        return f"{mine.height} rollouts whose output the other run gave too were judged otherwise"
    return f"rollouts with none of these symptoms ({counts}) and those with one pass at another rate"


def _places(mine: pl.DataFrame) -> tuple[str, ...]:
    """Rollouts of the candidate first, one a task."""
    ordered = mine.sort("side", descending=True, maintain_order=True).unique("task", keep="first", maintain_order=True)
    rows: Sequence[tuple[str, int]] = list(ordered.select("task_id", "repeat").iter_rows())
    return tuple(f"{task}#{repeat}" for task, repeat in rows[:MOST_REFS])
