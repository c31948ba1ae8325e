"""From identified rows to rollouts: repeats, duplicates, failures, what was expected and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from blade.core.rollout import Outcome, Problem, Source

MOSTLY = 0.8
"""Share of tasks that must have the same number of rows before that number is taken as the expected one."""


@dataclass(frozen=True, kw_only=True)
class Joined:
    """One row a rollout, without duplicates; and what was left out."""

    rollouts: pl.DataFrame
    duplicates: int
    attempts: int
    """Failed attempts at rollouts that the main file has too."""
    problems: tuple[Problem, ...]


def join(rows: pl.DataFrame, shown: Mapping[int, str]) -> Joined:
    """Rollouts of one run from its main and failures rows; `shown` names the files."""
    rows = _number_repeats(rows.filter(pl.col("role").is_in(["rollouts", "failures"])))
    best = pl.struct(
        pl.col("role") != "rollouts",
        -pl.col("attempt").fill_null(-1),
        pl.when(pl.col("role") == "rollouts").then(pl.col("file")).otherwise(-pl.col("file")),
        pl.when(pl.col("role") == "rollouts").then(pl.col("line")).otherwise(-pl.col("line")),
    )
    rows = rows.with_columns(best.rank("ordinal").over("task_id", "repeat").alias("rank"))
    kept = rows.filter(pl.col("rank") == 1)
    extra = rows.filter((pl.col("rank") > 1) & (pl.col("role") == "rollouts"))
    return Joined(
        rollouts=kept.drop("rank"),
        duplicates=extra.height,
        attempts=rows.height - kept.height - extra.height,
        problems=tuple(_differing(extra, kept, shown)),
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
    both = extra.join(
        kept.select("task_id", "repeat", "reward", "output_fp", "line"), on=["task_id", "repeat"], suffix="_kept"
    )
    same = pl.col("reward").eq_missing(pl.col("reward_kept")) & pl.col("output_fp").eq_missing(pl.col("output_fp_kept"))
    return [
        Problem(
            source=Source(artifact=shown[row["file"]], line=row["line"], member=row["member"]),
            reason=f"another row of rollout {row['task_id']}#{row['repeat']}, with another reward or output; "
            f"line {row['line_kept']} counts",
        )
        for row in both.filter(~same).sort("file", "line").iter_rows(named=True)
    ]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """How many rollouts each task should have; `source` is None when nobody says."""

    source: str | None
    repeats: Mapping[str, int]
    """Expected rollouts by task, tasks without any row included."""
    unnamed: int = 0
    """Expected tasks that nothing names."""
    reason: str = ""
    notes: tuple[str, ...] = ()


def expect(
    rollouts: pl.DataFrame,
    inputs: pl.DataFrame,
    stated: tuple[str, Mapping[str, int]] | None,
    *,
    tasks: int | None,
    repeats: int | None,
) -> Expected:
    """What should be there: the user's word, materialized inputs, a manifest or log, or a clear pattern; else unknown."""
    seen = dict(rollouts.group_by("task_id").len().iter_rows())
    named, source = _named(inputs, stated)
    if repeats is not None:
        named, source = dict.fromkeys([*named, *seen], repeats), "user"
    if not named and tasks is None:
        return _inferred(seen)
    unnamed = max(0, tasks - len(seen.keys() | named.keys())) if tasks is not None else 0
    if not named:
        named, source = seen, "user"
    over = sum(1 for task, count in seen.items() if count > named.get(task, count))
    counts = {task: max(named.get(task, 0), seen.get(task, 0)) for task in seen.keys() | named.keys()}
    notes = (f"{over} tasks have more rollouts than expected",) if over else ()
    return Expected(source=source, repeats=counts, unnamed=unnamed, notes=notes)


def _named(inputs: pl.DataFrame, stated: tuple[str, Mapping[str, int]] | None) -> tuple[dict[str, int], str | None]:
    if not inputs.is_empty():
        return dict(inputs.group_by("task_id").agg(_input_repeats()).iter_rows()), "inputs"
    if stated is not None:
        return dict(stated[1]), stated[0]
    return {}, None


def _input_repeats() -> pl.Expr:
    return (
        pl.when(pl.col("repeat").null_count() > 0).then(pl.len()).otherwise(pl.col("repeat").n_unique()).cast(pl.Int64)
    )


def _inferred(seen: Mapping[str, int]) -> Expected:
    most = max(seen.values(), default=0)
    full = sum(1 for count in seen.values() if count == most)
    if most >= 2 and full >= MOSTLY * len(seen):
        return Expected(source="inferred", repeats=dict.fromkeys(seen, most))
    return Expected(source=None, repeats={}, reason="no inputs, manifest or flag says how many rollouts were expected")


def missing_rows(rollouts: pl.DataFrame, inputs: pl.DataFrame, expected: Expected) -> pl.DataFrame:
    """`task_id` and `repeat` of every expected rollout that has no row."""
    seen: dict[str, set[int]] = {}
    for task, repeat in rollouts.select("task_id", "repeat").iter_rows():
        seen.setdefault(task, set()).add(repeat)
    stamped: dict[str, list[int]] = {}
    if not inputs.is_empty() and inputs["repeat"].null_count() == 0:
        for task, repeat in inputs.select("task_id", "repeat").unique().sort("task_id", "repeat").iter_rows():
            stamped.setdefault(task, []).append(repeat)
    rows = []
    for task in sorted(expected.repeats):
        have = seen.get(task, set())
        lacking = expected.repeats[task] - len(have)
        free = [r for r in [*stamped.get(task, ()), *range(expected.repeats[task] + len(have))] if r not in have]
        rows += [(task, repeat) for repeat in sorted(dict.fromkeys(free[:lacking]))] if lacking > 0 else []
    rows += [
        (f"missing-{number}", repeat) for number in range(1, expected.unnamed + 1) for repeat in range(_usual(expected))
    ]
    frame = pl.DataFrame(rows, schema={"task_id": pl.String, "repeat": pl.Int32}, orient="row")
    return frame.with_columns(outcome=pl.lit(str(Outcome.MISSING)))


def _usual(expected: Expected) -> int:
    """The commonest number of repeats, ties to the smaller."""
    counts = list(expected.repeats.values())
    return min(sorted(set(counts)), key=lambda k: (-counts.count(k), k), default=1)
