"""From identified rows to rollouts: repeats, duplicates, failures, what was expected and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, islice
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.core.rollout import Outcome, Problem, Source
from blade.ingest.frames import kept

MOST_REPEATS = 100_000
"""A manifest that asks for more is mistaken."""
MOSTLY = 0.8
"""Share of tasks that must have the same number of rows before that number is taken as the expected one."""


class Joined(Struct, frozen=True, kw_only=True):
    """One row a rollout, without duplicates; and what was left out."""

    rollouts: pl.DataFrame
    duplicates: int
    attempts: int
    """Failed attempts at rollouts that the main file has too."""
    problems: tuple[Problem, ...]


def join(rows: pl.DataFrame, shown: Mapping[int, str]) -> Joined:
    """Rollouts of one run from its main and failures rows; `shown` names the files."""
    rows = _number_repeats(kept(rows, pl.col("role").is_in(["rollouts", "failures"])))
    if not rows.select("task_id", "repeat").is_duplicated().any():
        return Joined(rollouts=rows, duplicates=0, attempts=0, problems=())
    best = pl.struct(
        pl.col("role") != "rollouts",
        -pl.col("attempt").fill_null(-1),
        pl.when(pl.col("role") == "rollouts").then(pl.col("file")).otherwise(-pl.col("file")),
        pl.when(pl.col("role") == "rollouts").then(pl.col("line")).otherwise(-pl.col("line")),
    )
    rows = rows.with_columns(best.rank("ordinal").over("task_id", "repeat").alias("rank"))
    counting = rows.filter(pl.col("rank") == 1)
    extra = rows.filter((pl.col("rank") > 1) & (pl.col("role") == "rollouts"))
    return Joined(
        rollouts=counting.drop("rank"),
        duplicates=extra.height,
        attempts=rows.height - counting.height - extra.height,
        problems=tuple(_differing(extra, counting, shown)),
    )


def _number_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows without a repeat index are numbered in order of file and line within their task, after those that have one."""
    if rows["repeat"].null_count() == 0:
        return rows
    rows = rows.sort("task_id", "file", "line", "member", nulls_last=True)
    stamped = pl.col("repeat").max().over("task_id").fill_null(-1)
    order = pl.col("repeat").is_null().cum_sum().over("task_id")
    number = (stamped + order).cast(pl.Int32)
    return rows.with_columns(
        pl.when(pl.col("repeat").is_null()).then(number).otherwise(pl.col("repeat")).alias("repeat")
    )


def _differing(extra: pl.DataFrame, kept: pl.DataFrame, shown: Mapping[int, str]) -> list[Problem]:
    """A problem for each duplicate whose reward or output is not that of the row that counts."""
    if extra.is_empty():
        return []
    output = pl.coalesce("output_fp", "answer_fp").alias("output")
    about = ["task_id", "repeat", "file", "line", "member", "reward", output]
    both = extra.select(about).join(kept.select(about), on=["task_id", "repeat"], suffix="_kept")
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(f"{name}_kept")) for name in ("reward", "output"))
    return [
        Problem(
            source=_source(row, shown, ""),
            reason=f"another row of rollout {row['task_id']}#{row['repeat']}, with another reward or output; "
            f"{_source(row, shown, '_kept')} counts",
        )
        for row in both.filter(~same).sort("file", "line", "member").iter_rows(named=True)
    ]


def _source(row: dict[str, Any], shown: Mapping[int, str], side: str) -> Source:
    return Source(artifact=shown[row[f"file{side}"]], line=row[f"line{side}"], member=row[f"member{side}"])


class Expected(Struct, frozen=True, kw_only=True):
    """How many rollouts each task should have; `source` is None when nobody says."""

    source: str | None
    repeats: Mapping[str, int]
    """Expected rollouts by task, tasks without any row included."""
    seen: Mapping[str, int]
    """Rollouts that there are, by task."""
    unnamed: int = 0
    """Expected tasks that nothing names; each should have the usual number of rollouts."""
    reason: str = ""
    notes: tuple[str, ...] = ()


def expect(
    rollouts: pl.DataFrame,
    inputs: pl.DataFrame,
    stated: tuple[str, Mapping[str, int]] | None,
    *,
    absent: Mapping[str, int],
    tasks: int | None,
    repeats: int | None,
) -> Expected:
    """What should be there: the user's word, materialized inputs, a manifest or log, or a clear pattern; else unknown."""
    seen = dict(rollouts.group_by("task_id").len().rows())
    named, source, notes = _named(inputs, stated, seen)
    lost = {task: count for task, count in absent.items() if task not in seen and count <= MOST_REPEATS}
    if lost:
        named = {**lost, **(named or seen)}
        notes = (*notes, f"{len(lost)} tasks are of shards that are not here")
    if repeats is not None:
        named, source = dict.fromkeys([*named, *seen], repeats), "user"
    pattern = _inferred(seen)
    if not named and tasks is None:
        return replace(pattern, notes=notes)
    if not named:
        named, source = dict(pattern.repeats or seen), "user"
    over = sum(1 for task, rows in seen.items() if rows > named.get(task, rows))
    if over:
        notes = (*notes, f"{over} tasks have more rollouts than expected")
    counts = {task: max(named.get(task, 0), seen.get(task, 0)) for task in seen.keys() | named.keys()}
    if tasks is not None and tasks < len(counts):
        notes = (*notes, f"{len(counts)} tasks are known where {tasks} were expected")
    unnamed = max(0, tasks - len(counts)) if tasks is not None else 0
    return Expected(source=source, repeats=counts, seen=seen, unnamed=unnamed, notes=notes)


def _named(
    inputs: pl.DataFrame, stated: tuple[str, Mapping[str, int]] | None, seen: Mapping[str, int]
) -> tuple[dict[str, int], str | None, tuple[str, ...]]:
    if not inputs.is_empty():
        return dict(inputs.group_by("task_id").agg(_input_repeats()).iter_rows()), "inputs", ()
    if stated is None:
        return {}, None, ()
    source, repeats = stated
    if max(repeats.values(), default=0) > MOST_REPEATS:
        return {}, None, (f"the {source} expects more than {MOST_REPEATS} repeats of a task, which is not believed",)
    if seen and not repeats.keys() & seen.keys():
        return {}, None, (f"the {source} names {len(repeats)} tasks, and none of them is a task of the rows",)
    return dict(repeats), source, ()


def _input_repeats() -> pl.Expr:
    return (
        pl.when(pl.col("repeat").null_count() > 0).then(pl.len()).otherwise(pl.col("repeat").n_unique()).cast(pl.Int64)
    )


def _inferred(seen: Mapping[str, int]) -> Expected:
    most = max(seen.values(), default=0)
    full = list(seen.values()).count(most)
    if most >= 2 and full >= MOSTLY * len(seen):
        return Expected(source="inferred", repeats=dict.fromkeys(seen, most), seen=seen)
    reason = "no inputs, manifest or flag says how many rollouts were expected"
    return Expected(source=None, repeats={}, seen=seen, reason=reason)


def missing_rows(rollouts: pl.DataFrame, inputs: pl.DataFrame, expected: Expected) -> pl.DataFrame:
    """`task_id` and `repeat` of every expected rollout that has no row."""
    short = sorted(task for task, wanted in expected.repeats.items() if wanted > expected.seen.get(task, 0))
    have, named = _repeats_of(rollouts, short), _repeats_of(inputs, short)
    rows = []
    for task in short:
        taken, wanted = have.get(task, []), expected.repeats[task]
        known = [] if None in named.get(task, []) else sorted(named.get(task, []))
        free = (repeat for repeat in dict.fromkeys([*known, *range(wanted + len(taken))]) if repeat not in taken)
        rows += [(task, repeat) for repeat in sorted(islice(free, wanted - len(taken)))]
    rows += [(name, repeat) for name in _unnamed(expected) for repeat in range(usual_repeats(expected))]
    frame = pl.DataFrame(rows, schema={"task_id": pl.String, "repeat": pl.Int32}, orient="row")
    return frame.with_columns(outcome=pl.lit(str(Outcome.MISSING)))


def _repeats_of(rows: pl.DataFrame, tasks: list[str]) -> dict[str, list[int]]:
    """The repeats that rows have of each of the tasks."""
    if not tasks or rows.is_empty():
        return {}
    mine = rows.select("task_id", "repeat").filter(pl.col("task_id").is_in(tasks))
    return dict(mine.group_by("task_id").agg(pl.col("repeat").unique()).iter_rows())


def _unnamed(expected: Expected) -> list[str]:
    """Names for expected tasks that nothing names; none of them is taken."""
    names = (f"missing-{number}" for number in count(1))
    return list(islice((name for name in names if name not in expected.repeats), expected.unnamed))


def usual_repeats(expected: Expected) -> int:
    """The commonest number of repeats, ties to the smaller."""
    counts = list(expected.repeats.values())
    return min(sorted(set(counts)), key=lambda k: (-counts.count(k), k), default=1)
