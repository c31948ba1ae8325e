"""The tables of a run: exactly the columns of the schema, in natural order of tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from blade.core.rollout import Outcome
from blade.core.run import CHECKS, TASKS
from blade.ingest.frames import kept, looked_up
from blade.ingest.identity import first_index, natural_sorted
from blade.ingest.join import Expected, usual_repeats
from blade.ingest.light import DIFFERENCE, EXTRA, HIT
from blade.ingest.slices import label, slice_columns

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
    "List(String)": pl.List(pl.String),
}


def conform(frame: pl.DataFrame, schema: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    """Exactly the columns of the schema, in its order; what is absent is null."""
    have = set(frame.columns)
    return frame.select(
        (pl.col(name) if name in have else pl.lit(None)).cast(DTYPES[dtype]).alias(name)
        for name, (dtype, _) in schema.items()
    )


def natural_order(rollouts: pl.DataFrame) -> pl.DataFrame:
    """`task_id` and its `place` among the tasks, in natural order."""
    ids = natural_sorted(rollouts["task_id"].unique())
    return pl.DataFrame({"task_id": ids, "place": range(len(ids))}, schema={"task_id": pl.String, "place": pl.Int64})


def places(frame: pl.DataFrame, order: pl.DataFrame) -> pl.Series:
    """Where the rows stand in order of task, and of repeat where they have one."""
    keys = looked_up(frame, order, "task_id")
    if "repeat" in frame.columns:
        keys = keys.with_columns(frame["repeat"])
    return keys.select(pl.arg_sort_by(keys.columns)).to_series()


class Cuts(NamedTuple):
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
    """One row a task; `mine` are the identified rows of the run, `others` those of the runs beside it."""
    scores = task_scores(rollouts)
    tasks = scores.select("task_id")
    for part in (*_marks_and_keys(mine), _key_places(mine, names)):
        tasks = tasks.join(part, on="task_id", how="left")
    tasks = tasks.with_columns(_repeats_column(tasks, expected), _group_column(mine, tasks, cuts.group))
    # Only inputs and datasets name tasks that have no rollout.
    named = mine["role"].is_in(_INPUTS).any()
    counted = kept(mine, pl.col("task_id").is_in(tasks["task_id"].implode())) if named else mine
    return conform(tasks, TASKS).join(slice_columns(counted, scores, others, cuts.slices), on="task_id", how="left")


def _marks_and_keys(mine: pl.DataFrame) -> list[pl.DataFrame]:
    """By task: where it stands in the inputs and what marks it, which a dataset does not say; and its key."""
    own = kept(mine, pl.col("role") != "dataset")
    marks = [first_index(own), *(pl.col(name).max() for name in ("id_kind", "id_mark", "key_fp", "prompt_fp"))]
    keys = [pl.col(name).drop_nulls().min() for name in ("expected", "key_expects")]
    if own.height == mine.height:
        return [mine.group_by("task_id").agg(*marks, *keys)]
    return [own.group_by("task_id").agg(*marks), mine.group_by("task_id").agg(*keys)]


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
    artifact = pl.col("file").replace_strict(list(names), list(names.values()), return_dtype=pl.String, default=None)
    return first.select("task_id", artifact.alias("key_artifact"), "key_offset")


def _repeats_column(tasks: pl.DataFrame, expected: Expected) -> pl.Series:
    """Expected repeats; a task that nothing names should have the usual number, and where nobody says it is null."""
    usual = usual_repeats(expected) if expected.source is not None else None
    repeats = [expected.repeats.get(task, usual) for task in tasks["task_id"].to_list()]
    return pl.Series("repeats_expected", repeats, pl.Int32)


def _group_column(mine: pl.DataFrame, tasks: pl.DataFrame, group: str | None) -> pl.Series:
    name = EXTRA + (group or "")
    if group is None or name not in mine.columns:
        return pl.Series("group", [None] * tasks.height, pl.String)
    values = dict(mine.group_by("task_id").agg(pl.col(name).drop_nulls().min()).iter_rows())
    found = (values.get(task) for task in tasks["task_id"])
    return pl.Series("group", [None if text is None else label(json.loads(text)) for text in found], pl.String)


def task_scores(rollouts: pl.DataFrame) -> pl.DataFrame:
    """`task_id` and its share of passes among judged rollouts, null when none was judged; sorted by id."""
    judged = pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)])
    passed = pl.col("outcome") == str(Outcome.PASSED)
    share = pl.when(judged.sum() > 0).then(passed.sum() / judged.sum())
    return rollouts.group_by("task_id").agg(share.alias("score")).sort("task_id")


def check_table(rollouts: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """Tests and criteria with their verdicts, one row each, as `read_checks` orders them within a rollout."""
    if "checks" not in rollouts.columns:
        return conform(pl.DataFrame(schema={"task_id": pl.String}), CHECKS)
    long = rollouts.select("task_id", "repeat", "checks").drop_nulls("checks").explode("checks").unnest("checks")
    place = long.with_columns(pl.int_range(pl.len()).alias("nth")).join(order, on="task_id", how="left")
    return conform(place.sort("place", "repeat", "nth"), CHECKS)
