"""The tables of a run: exactly the columns of the schema, in natural order of tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import polars as pl
from msgspec import Struct

from blade.ingest.frames import Stretches, in_natural_order, kept, looked_up, reordered
from blade.ingest.identity import first_index
from blade.ingest.join import Expected, usual_repeats
from blade.ingest.row_table import CHECKS as CHECK_NUMBERS
from blade.ingest.row_table import DIFFERENCE, EXTRA, HIT, SIGN
from blade.ingest.slices import label, slice_columns
from blade.model.errors import RequestError
from blade.model.rollout import Outcome
from blade.model.run import CHECKS, ROLLOUTS, TASKS, Run

_INPUTS = ("inputs", "dataset")

DTYPES: dict[str, pl.DataType] = {
    "String": pl.String(),
    "Int32": pl.Int32(),
    "Int64": pl.Int64(),
    "UInt64": pl.UInt64(),
    "Float64": pl.Float64(),
    "Boolean": pl.Boolean(),
    "List(UInt16)": pl.List(pl.UInt16),
    "List(Struct)": pl.List(HIT),
    "List(Difference)": pl.List(DIFFERENCE),
    "List(Sign)": pl.List(SIGN),
    "List(String)": pl.List(pl.String),
}


def conform(frame: pl.DataFrame, schema: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    """Exactly the columns of the schema, in its order; what is absent is null."""
    have = set(frame.columns)
    return frame.select(
        (pl.col(name) if name in have else pl.lit(None)).cast(DTYPES[dtype]).alias(name)
        for name, (dtype, _) in schema.items()
    )


class Cuts(Struct, frozen=True, kw_only=True):
    """Fields by which the user wants tasks grouped, and cut into slices."""

    group: str | None = None
    slices: tuple[str, ...] = ()


def task_table(
    mine: pl.DataFrame,
    rollouts: pl.DataFrame,
    expected: Expected,
    cuts: Cuts,
    others: Sequence[pl.DataFrame],
    names: Mapping[int, str],
) -> pl.DataFrame:
    """One row a task, in order; `mine` are the identified rows of the run, `others` those of the runs beside it.

    The rows are in natural order, and the rollouts too.
    """
    scores = task_scores(rollouts)
    tasks = scores.select("task_id")
    for part in (*_marks_and_keys(mine), _key_places(mine, names)):
        tasks = tasks.with_columns(looked_up(tasks, part, "task_id"))
    tasks = tasks.with_columns(_repeats_column(tasks, expected), _group_column(mine, tasks, cuts.group))
    # Only inputs and datasets name tasks that have no rollout.
    named = mine["role"].is_in(_INPUTS).any()
    counted = kept(mine, pl.col("task_id").is_in(tasks["task_id"].implode())) if named else mine
    return conform(tasks, TASKS).with_columns(slice_columns(counted, scores, others, cuts.slices)).rechunk()


def _marks_and_keys(mine: pl.DataFrame) -> list[pl.DataFrame]:
    """By task: where it stands in the inputs and what marks it, which a dataset does not say; and its key."""
    own = kept(mine, pl.col("role") != "dataset")
    marks = {"index": first_index(own)}
    marks |= {name: pl.col(name).max() for name in ("id_kind", "id_mark", "key_fp", "prompt_fp")}
    keys = {name: pl.col(name).drop_nulls().min() for name in ("expected", "key_expects")}
    return [_by_task(own, marks | keys)] if own is mine else [_by_task(own, marks), _by_task(mine, keys)]


def _by_task(rows: pl.DataFrame, wanted: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """One row a task: what all its rows say in a column where they agree, else what is wanted of it."""
    stretches = Stretches.of(rows, "task_id")
    differing = stretches.differing(rows.select(wanted.keys()))
    tasks = rows.select("task_id", *wanted)[stretches.firsts]
    if not differing:
        return tasks
    numbered = rows.with_columns(stretches.numbers()).group_by("number")
    return tasks.with_columns(numbered.agg(wanted[name] for name in differing).sort("number").drop("number"))


def _key_places(mine: pl.DataFrame, names: Mapping[int, str]) -> pl.DataFrame:
    """For tasks whose own rows hold no key: where the inputs hold one."""
    keyed = pl.col("expected").is_not_null() | pl.col("key_expects").is_not_null()
    own = ~pl.col("role").is_in(_INPUTS)
    mine = mine.select("task_id", "role", "expected", "key_expects", "file", "offset")
    beside = mine.filter(keyed & ~own)
    has_own = mine.filter(keyed & own) if beside.height else beside
    beside = beside.join(has_own, on="task_id", how="anti").sort("file", "offset")
    first = beside.group_by("task_id", maintain_order=True).agg(
        pl.col("file").first(), key_offset=pl.col("offset").first()
    )
    return first.select("task_id", _shown(names).alias("key_artifact"), "key_offset")


def _repeats_column(tasks: pl.DataFrame, expected: Expected) -> pl.Series:
    """Expected repeats; a task that nothing names should have the usual number, and where nobody says it is null."""
    wanted = looked_up(tasks, expected.tasks.select("task_id", "wanted"), "task_id")["wanted"]
    if expected.source is not None:
        wanted = wanted.fill_null(usual_repeats(expected))
    return wanted.cast(pl.Int32).alias("repeats_expected")


def _group_column(mine: pl.DataFrame, tasks: pl.DataFrame, group: str | None) -> pl.Series:
    name = EXTRA + (group or "")
    if group is None or name not in mine.columns:
        return pl.Series("group", [None] * tasks.height, pl.String)
    values = dict(mine.group_by("task_id").agg(pl.col(name).drop_nulls().min()).iter_rows())
    found = (values.get(task) for task in tasks["task_id"])
    return pl.Series("group", [None if text is None else label(json.loads(text)) for text in found], pl.String)


def task_scores(rollouts: pl.DataFrame) -> pl.DataFrame:
    """`task_id` and its share of passes among judged rollouts, null when none was judged; in the order of the rollouts."""
    stretches = Stretches.of(rollouts, "task_id")
    passed, failed = (pl.col("outcome") == str(one) for one in (Outcome.PASSED, Outcome.FAILED))
    times = stretches.times(rollouts.select(passed=passed, judged=passed | failed))
    share = pl.when(pl.col("judged") > 0).then(pl.col("passed") / pl.col("judged"))
    return times.select(stretches.first(rollouts["task_id"]), share.alias("score"))


def check_table(rows: pl.DataFrame, found: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """Tests and criteria with their verdicts, one row each, in the order of the rollouts and of `read_checks` within.

    `found` says which of the rows each rollout is; their checks are taken out of the rows. `names` are those of checks.
    """
    if CHECK_NUMBERS not in rows.columns:
        return conform(pl.DataFrame(schema={"task_id": pl.String}), CHECKS)
    checks = found.select("task_id", "repeat", rows.drop_in_place(CHECK_NUMBERS).gather(found["place"]))
    checks = checks.drop_nulls(CHECK_NUMBERS).explode(CHECK_NUMBERS)
    number = checks.drop_in_place(CHECK_NUMBERS)
    checks = checks.with_columns(names.gather(number // 2).alias("name"), (number % 2 == 1).alias("passed"))
    return conform(checks, CHECKS).rechunk()


def rollout_table(
    rows: pl.DataFrame, found: pl.DataFrame, missing: pl.DataFrame, names: Mapping[int, str]
) -> pl.DataFrame:
    """The rollouts in natural order; `found` says which of the rows each is, `missing` are those that have no row.

    `names` are those of the files. `rows` are emptied on the way.
    """
    wanted = found.select("task_id", "repeat", "place")
    if missing.height:
        known = Stretches.of(wanted, "task_id").first(wanted["task_id"])
        wanted = in_natural_order(pl.concat([wanted, missing], how="diagonal"), known)
    lost = pl.lit(str(Outcome.MISSING))
    table = reordered(rows, wanted["place"]).with_columns(
        wanted["task_id"],
        wanted["repeat"],
        pl.when(wanted["place"].is_null()).then(lost).otherwise("outcome").alias("outcome"),
        _shown(names).alias("artifact"),
    )
    return conform(table, ROLLOUTS)


def _shown(names: Mapping[int, str]) -> pl.Expr:
    """The file of each row as people see it."""
    return pl.col("file").replace_strict(list(names), list(names.values()), return_dtype=pl.String, default=None)


def ask(runs: Sequence[Run], query: str, more: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """The answer of an SQL query over the tables of the runs, and `more`; raises when the query cannot be understood."""
    tables = {
        name: pl.concat([getattr(run, name) for run in runs], how="diagonal_relaxed")
        for name in ("rollouts", "tasks", "checks")
    }
    tables |= more or {}
    try:
        return pl.SQLContext(frames=tables, eager=True).execute(query)
    except (pl.exceptions.PolarsError, ValueError) as error:
        columns = "; ".join(f"{name}: {', '.join(table.columns)}" for name, table in tables.items())
        first_line = str(error).partition("\n")[0]
        raise RequestError(f"the query cannot be answered: {first_line}", hint=f"tables are {columns}") from None
