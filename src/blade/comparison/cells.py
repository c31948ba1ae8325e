"""The expected rollouts of two runs on their joined tasks, each in its one class, from symptoms and never the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from blade.model.finding import Differs
from blade.model.run import Run
from blade.rules.catalog import rollout_rules
from blade.rules.declaration import Rule
from blade.stats.association import benjamini_hochberg, within_tasks
from blade.stats.counts import JUDGED, fired
from blade.stats.headline import worth
from blade.stats.ledger import INFRASTRUCTURE, MISSING, Cells

LIMITS = "limits"
FORMAT = "format"
BEHAVIOR = "behavior:"
MOST_BEHAVIORS = 5
SIGNIFICANT = 0.05
_OF_FORMAT = ("ANS002", "ANS004", "ANS005")
"""Rules that say that no answer was handed in in the verifier's form."""
_FIRST = 0
"""Where a hit without a step stands: before all others."""


@dataclass(frozen=True, kw_only=True)
class Classed:
    """Both runs' cells by class, the classes in order, and the table behind them."""

    classes: tuple[str, ...]
    baseline: Cells
    candidate: Cells
    table: pl.DataFrame
    """A row a cell: side, task (place among the pairs), task_id, repeat, class, worth, output_fp."""


def classed(baseline: Run, candidate: Run, pairs: Sequence[tuple[str, str]], headline: str, floor: float) -> Classed:
    """The cells of the joined tasks; `headline` says what a cell is worth, and `floor` what one without a verdict is."""
    sides = [_rows(run, [pair[side] for pair in pairs]) for side, run in enumerate((baseline, candidate))]
    codes = _behaviors(sides)
    classes = (MISSING, INFRASTRUCTURE, LIMITS, FORMAT, *(BEHAVIOR + code for code in codes))
    table = pl.concat(
        frame.with_columns(
            pl.lit(side, pl.Int8).alias("side"),
            _class(codes).alias("class"),
            worth(headline, floor).alias("worth"),
        ).select("side", "task", "task_id", "repeat", "class", "worth", "output_fp", "outcome")
        for side, frame in enumerate(sides)
    )
    regraded = _regraded(table)
    cells = [_cells(table, regraded, side, len(classes) + 1, len(pairs)) for side in (0, 1)]
    return Classed(classes=classes, baseline=cells[0], candidate=cells[1], table=table)


def _rows(run: Run, tasks: Sequence[str]) -> pl.DataFrame:
    places = pl.DataFrame(
        {"task_id": list(tasks), "task": range(len(tasks))}, schema={"task_id": pl.String, "task": pl.Int32}
    )
    columns = ("task_id", "repeat", "outcome", "reward", "fired", "cannot_check", "differs", "output_fp")
    return run.rollouts.select(columns).join(places, on="task_id", how="inner", maintain_order="left")


def _class(codes: Sequence[str]) -> pl.Expr:
    """The place of a cell's class: the first that applies, behaviors by their earliest evidence; clean is last."""
    return (
        pl.when(pl.col("outcome") == "missing")
        .then(0)
        .when(
            pl.col("outcome").is_in(["errored", "unscored"]) | _differs(Differs.NO_ANSWER, "output") | fired(_infra())
        )
        .then(1)
        .when(_differs(Differs.CUT))
        .then(2)
        .when(_differs(Differs.NO_ANSWER) | fired(_OF_FORMAT))
        .then(3)
        .otherwise(_earliest(codes))
    )


def _differs(kind: Differs, name: str | None = None) -> pl.Expr:
    said = pl.element().struct.field("kind") == str(kind)
    said = said if name is None else said & (pl.element().struct.field("name") == name)
    return pl.col("differs").list.eval(said).list.any().fill_null(False)


def _earliest(codes: Sequence[str]) -> pl.Expr:
    """The place of the behavior that shows first in the rollout; after all of them where there is none."""
    if not codes:
        return pl.lit(4)
    never = 1 << 30
    steps = [_step(code).fill_null(never) for code in codes]
    first = pl.min_horizontal(steps)
    chosen = pl.lit(4 + len(codes))
    for place in reversed(range(len(codes))):
        chosen = pl.when(steps[place] == first).then(4 + place).otherwise(chosen)
    return pl.when(first == never).then(4 + len(codes)).otherwise(chosen)


def _step(code: str) -> pl.Expr:
    hit = pl.element().struct.field("code") == code
    step = pl.element().struct.field("step").fill_null(_FIRST)
    return pl.col("fired").list.eval(pl.when(hit).then(step)).list.min()


def _infra() -> list[str]:
    return [
        rule.code
        for rule in rollout_rules()
        if rule.family == "infra" and rule.kind == "direct" and rule.status == "stable"
    ]


def _behaviors(sides: Sequence[pl.DataFrame]) -> list[str]:
    """Rules of behavior and answer that go with failing within tasks of a run, in both runs pooled; at most five."""
    judged = pl.concat(
        side.filter(JUDGED).with_columns((pl.col("task") * 2 + number).alias("stratum"))
        for number, side in enumerate(sides)
    )
    seen = [rule for rule in rollout_rules() if rule.blind and rule.family in ("behavior", "answer") and _fits(rule)]
    tested = [(rule, _p_value(rule, judged)) for rule in seen]
    known = [(rule, p) for rule, p in tested if p is not None]
    if not known:
        return []
    q = benjamini_hochberg([p for _, p in known])
    ranked = sorted((float(value), rule.code) for value, (rule, _) in zip(q, known, strict=True))
    return [code for value, code in ranked if value <= SIGNIFICANT][:MOST_BEHAVIORS]


def _fits(rule: Rule) -> bool:
    return rule.code not in _OF_FORMAT


def _p_value(rule: Rule, judged: pl.DataFrame) -> float | None:
    """How surely the rule goes with failing; None where it cannot be told, or goes with passing."""
    checked = judged.filter(~pl.col("cannot_check").list.contains(rule.code).fill_null(False))
    hits = checked.select(fired([rule.code]).alias("hit"))["hit"].to_numpy()
    if not hits.any():
        return None
    found = within_tasks(checked["stratum"].to_numpy(), hits, (checked["outcome"] == "failed").to_numpy())
    return found.p_value if (found.risk_difference or 0.0) > 0 else None


def _regraded(table: pl.DataFrame) -> pl.Series:
    """What each cell is worth under the other run's mean verdict on the same output in the same task."""
    means = (
        table.filter(pl.col("output_fp").is_not_null() & JUDGED)
        .group_by("side", "task", "output_fp")
        .agg(pl.col("worth").mean().alias("theirs"))
        .with_columns((1 - pl.col("side")).alias("side"))
    )
    both = table.join(means, on=["side", "task", "output_fp"], how="left", maintain_order="left")
    judged = pl.when(JUDGED).then(pl.coalesce("theirs", "worth")).otherwise(pl.col("worth"))
    return both.select(judged.alias("regraded"))["regraded"]


def _cells(table: pl.DataFrame, regraded: pl.Series, side: int, classes: int, tasks: int) -> Cells:
    rows = table.with_columns(regraded).filter(pl.col("side") == side)
    places = rows["task"].to_numpy() * classes + rows["class"].to_numpy()

    def summed(weights: np.ndarray | None) -> np.ndarray:
        return np.bincount(places, weights=weights, minlength=tasks * classes).astype(float).reshape(tasks, classes)

    return Cells(
        count=summed(None), worth=summed(rows["worth"].to_numpy()), regraded=summed(rows["regraded"].to_numpy())
    )
