"""The ledger: every expected rollout of the joined tasks in its one class, and what each class moves the score by.

Classes come from symptoms and never from the verdict, so that a term is an explanation and not the score in other words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from msgspec import Struct

from blade.comparison.scores import SIGNIFICANT, limits
from blade.comparison.values import LedgerTerm, Pairs, SliceChange
from blade.model.finding import Differs
from blade.model.run import Run
from blade.rules.catalog import rollout_rules
from blade.rules.declaration import Rule
from blade.stats.association import benjamini_hochberg, within_tasks
from blade.stats.counts import JUDGED, fired
from blade.stats.headline import worth
from blade.stats.ledger import INFRASTRUCTURE, MISSING, TASK_SET, UNEXPLAINED, VERIFIER, Cells, Ledger, ledger

LIMITS = "limits"
FORMAT = "format"
BEHAVIOR = "behavior:"
MOST_BEHAVIORS = 5
FORMAT_RULES = ("ANS002", "ANS004", "ANS005")
"""Rules that say that no answer was handed in in the verifier's form."""
EXACT = 1e-12
"""What rounding of floats may take from or add to a sum of terms."""
MOST_REFS = 8
WHAT = {
    MISSING: "were expected and never written",
    INFRASTRUCTURE: "errored, have no reward, or failed by the machinery",
    LIMITS: "were cut by a limit of tokens, steps or time",
    FORMAT: "handed in no answer that the verifier could take",
}


class ClassedCells(Struct, frozen=True, kw_only=True, eq=False):
    """Both runs' cells by class, the classes in order, and the table behind them."""

    classes: tuple[str, ...]
    baseline: Cells
    candidate: Cells
    table: pl.DataFrame
    """A row a cell: side, task (number of the pair), task_id, repeat, class, worth, output_fp, outcome."""


def classify(
    runs: tuple[Run, Run],
    pairs: Pairs,
    headline: str,
    floor: float,
    attributed: tuple[pl.DataFrame | None, pl.DataFrame | None],
) -> ClassedCells:
    """The cells of the joined tasks; `headline` says what a cell is worth, and `floor` what one without a verdict is.

    `attributed` are the tables of attributions of both runs, where these were made.
    """
    sides = [_rows(run, [pair[side] for pair in pairs], attributed[side]) for side, run in enumerate(runs)]
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
    return ClassedCells(classes=classes, baseline=cells[0], candidate=cells[1], table=table)


def _rows(run: Run, tasks: Sequence[str], attributed: pl.DataFrame | None) -> pl.DataFrame:
    numbers = pl.DataFrame(
        {"task_id": list(tasks), "task": range(len(tasks))}, schema={"task_id": pl.String, "task": pl.Int32}
    )
    columns = ("task_id", "repeat", "outcome", "reward", "fired", "cannot_check", "differs", "output_fp")
    infra = attributed["infra"] if attributed is not None else pl.lit(value=False)
    return (
        run.rollouts.select(columns)
        .with_columns(infra=infra)
        .join(numbers, on="task_id", how="inner", maintain_order="left")
    )


def _class(codes: Sequence[str]) -> pl.Expr:
    """The number of a cell's class: the first that applies, behaviors by their earliest evidence; clean is last."""
    unjudged = pl.col("outcome").is_in(["errored", "unscored"])
    return (
        pl.when(pl.col("outcome") == "missing")
        .then(0)
        .when(unjudged | pl.col("infra"))
        .then(1)
        .when(_differs(Differs.CUT))
        .then(2)
        .when(_differs(Differs.NO_ANSWER) | fired(FORMAT_RULES))
        .then(3)
        .otherwise(_earliest(codes))
    )


def _differs(kind: Differs, name: str | None = None) -> pl.Expr:
    matches = pl.element().struct.field("kind") == str(kind)
    matches = matches if name is None else matches & (pl.element().struct.field("name") == name)
    return pl.col("differs").list.eval(matches).list.any().fill_null(False)


def _earliest(codes: Sequence[str]) -> pl.Expr:
    """The number of the behavior that shows first in the rollout; after all of them where there is none."""
    if not codes:
        return pl.lit(4)
    never = 1 << 30
    steps = []
    for code in codes:
        hit = pl.element().struct.field("code") == code
        # A hit without a step stands before all others.
        step = pl.element().struct.field("step").fill_null(0)
        steps.append(pl.col("fired").list.eval(pl.when(hit).then(step)).list.min().fill_null(never))
    first = pl.min_horizontal(steps)
    chosen = pl.lit(4 + len(codes))
    for number in reversed(range(len(codes))):
        chosen = pl.when(steps[number] == first).then(4 + number).otherwise(chosen)
    return pl.when(first == never).then(4 + len(codes)).otherwise(chosen)


def _behaviors(sides: Sequence[pl.DataFrame]) -> list[str]:
    """Rules of behavior and answer that go with failing within tasks of a run, in both runs pooled; at most five."""
    judged = pl.concat(
        side.filter(JUDGED).with_columns((pl.col("task") * 2 + number).alias("stratum"))
        for number, side in enumerate(sides)
    )
    tested = [
        (rule, _p_value(rule, judged))
        for rule in rollout_rules()
        if rule.blind and rule.family in ("behavior", "answer") and rule.code not in FORMAT_RULES
    ]
    known = [(rule, p_value) for rule, p_value in tested if p_value is not None]
    if not known:
        return []
    q_values = benjamini_hochberg([p_value for _, p_value in known])
    ranked = sorted((float(q_value), rule.code) for q_value, (rule, _) in zip(q_values, known, strict=True))
    return [code for q_value, code in ranked if q_value <= SIGNIFICANT][:MOST_BEHAVIORS]


def _p_value(rule: Rule, judged: pl.DataFrame) -> float | None:
    """How surely the rule goes with failing; None where it cannot be known, or goes with passing."""
    checked = judged.filter(~pl.col("cannot_check").list.contains(rule.code).fill_null(False))
    hits = checked.select(fired([rule.code]).alias("hit"))["hit"].to_numpy()
    if not hits.any():
        return None
    link = within_tasks(checked["stratum"].to_numpy(), hits, (checked["outcome"] == "failed").to_numpy())
    return link.p_value if (link.risk_difference or 0.0) > 0 else None


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
    numbers = rows["task"].to_numpy() * classes + rows["class"].to_numpy()

    def summed(weights: np.ndarray | None) -> np.ndarray:
        sums = np.bincount(numbers, weights=weights, minlength=tasks * classes)
        return sums.astype(float).reshape(tasks, classes)

    return Cells(
        count=summed(None), worth=summed(rows["worth"].to_numpy()), regraded=summed(rows["regraded"].to_numpy())
    )


def ledger_terms(
    cells: ClassedCells, runs: tuple[Run, Run], own: tuple[float | None, float | None], slices: tuple[SliceChange, ...]
) -> tuple[LedgerTerm, ...]:
    """All terms in order; they sum to the change on each run's own tasks, to rounding of floats."""
    before, after = float(own[0] or 0.0), float(own[1] or 0.0)
    steps = ledger(cells.classes, cells.baseline, cells.candidate)
    task_set = (after - before) - float(steps.points.sum())
    sizes = [run.tasks.height for run in runs]
    score = before + task_set
    terms = [
        LedgerTerm(
            term=TASK_SET,
            points=task_set,
            ci=None,
            rollouts=0,
            tasks=abs(sizes[1] - sizes[0]),
            score_after=score,
            what=f"tasks that only one of the runs has ({sizes[0]} against {sizes[1]} in all)",
        )
    ]
    for number in range(len(steps.terms)):
        score += float(steps.points[number])
        terms.append(_term(number, score, steps, cells, slices))
    if abs(sum(term.points for term in terms) - (after - before)) > EXACT * max(1.0, abs(before), abs(after)):
        raise AssertionError("the ledger does not add up")
    return tuple(terms)


def _term(number: int, score: float, steps: Ledger, cells: ClassedCells, slices: tuple[SliceChange, ...]) -> LedgerTerm:
    name = steps.terms[number]
    rows = _rows_of(name, cells)
    first_of_task = rows.sort("side", descending=True, maintain_order=True).unique(
        "task", keep="first", maintain_order=True
    )
    return LedgerTerm(
        term=name,
        points=float(steps.points[number]),
        ci=limits(steps.interval(name)),
        rollouts=rows.height,
        tasks=int((abs(steps.by_task[:, number]) > EXACT).sum()),
        score_after=score,
        what=_what(name, rows, cells),
        # Rollouts of the candidate first, one a task.
        evidence=tuple(
            f"{task}#{repeat}" for task, repeat in first_of_task.head(MOST_REFS)[["task_id", "repeat"]].rows()
        ),
        slices=slices if name == UNEXPLAINED else (),
    )


def _rows_of(name: str, cells: ClassedCells) -> pl.DataFrame:
    """The cells that a term is about: those of its class, or those whose outputs both runs gave, or clean ones."""
    table = cells.table
    if name in cells.classes:
        return table.filter(pl.col("class") == cells.classes.index(name))
    if name != VERIFIER:
        return table.filter(pl.col("class") == len(cells.classes))
    known = table.filter(pl.col("output_fp").is_not_null() & JUDGED)
    means = [pl.col("worth").filter(pl.col("side") == side).mean() for side in (0, 1)]
    both = known.group_by("task", "output_fp").agg(sides=pl.col("side").n_unique(), gap=means[1] - means[0])
    regraded = both.filter((pl.col("sides") == 2) & (pl.col("gap").abs() > EXACT))
    return known.join(regraded, on=["task", "output_fp"], how="semi", maintain_order="left")


def _what(name: str, rows: pl.DataFrame, cells: ClassedCells) -> str:
    counts = [rows.filter(pl.col("side") == side).height for side in (0, 1)]
    of = [cells.table.filter(pl.col("side") == side).height for side in (0, 1)]
    before_and_after = f"{counts[0]} of {of[0]} rollouts before, {counts[1]} of {of[1]} after"
    if name in WHAT:
        return f"{before_and_after} {WHAT[name]}"
    if name.startswith(BEHAVIOR):
        code = name.removeprefix(BEHAVIOR)
        message = next((rule.message for rule in rollout_rules() if rule.code == code), code)
        return f"{before_and_after}: {message}"
    if name == VERIFIER:
        return f"{rows.height} rollouts whose output the other run gave too were judged otherwise"
    return f"rollouts with none of these ({before_and_after}), and those with one that pass at another rate"
