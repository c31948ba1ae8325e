"""From identified rows to rollouts: repeats, duplicates, failures, what was expected and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, islice
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.ingest.frames import Stretches, in_natural_order, kept
from blade.model.rollout import Outcome, Problem, RowSource

MOST_REPEATS = 100_000
"""A manifest that asks for more is mistaken."""
MOSTLY = 0.8
"""Share of tasks that must have the same number of rows before that number is taken as the expected one."""


JOINED = ("task_id", "repeat", "role", "attempt", "file", "line", "member", "reward", "output_fp", "answer_fp")
"""The columns of rows that decide which of them is a rollout."""


class JoinedRollouts(Struct, frozen=True, kw_only=True):
    """One row a rollout, without duplicates; and what was left out."""

    rollouts: pl.DataFrame
    """In natural order; of the columns of the rows, those that were given."""
    duplicates: int
    attempts: int
    """Failed attempts at rollouts that the main file has too."""
    problems: tuple[Problem, ...]


def join(rows: pl.DataFrame, shown: Mapping[int, str]) -> JoinedRollouts:
    """Rollouts of one run from its main and failures rows, which are in natural order; `shown` names the files."""
    rows = _number_repeats(kept(rows, pl.col("role").is_in(["rollouts", "failures"])))
    if Stretches.of(rows, "task_id", "repeat").begins.all():
        return JoinedRollouts(rollouts=rows, duplicates=0, attempts=0, problems=())
    best = pl.struct(
        pl.col("role") != "rollouts",
        -pl.col("attempt").fill_null(-1),
        pl.when(pl.col("role") == "rollouts").then(pl.col("file")).otherwise(-pl.col("file")),
        pl.when(pl.col("role") == "rollouts").then(pl.col("line")).otherwise(-pl.col("line")),
    )
    rows = rows.with_columns(best.rank("ordinal").over("task_id", "repeat").alias("rank"))
    counting = rows.filter(pl.col("rank") == 1)
    extra = rows.filter((pl.col("rank") > 1) & (pl.col("role") == "rollouts"))
    return JoinedRollouts(
        rollouts=counting.drop("rank"),
        duplicates=extra.height,
        attempts=rows.height - counting.height - extra.height,
        problems=tuple(_differing(extra, counting, shown)),
    )


def _number_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows without a repeat index are numbered in order of file and line within their task, after those that have one."""
    if rows["repeat"].null_count() == 0:
        return rows
    about = rows.select("task_id", "file", "line", "member", "repeat").with_row_index("place")
    about = about.sort("task_id", "file", "line", "member", nulls_last=True, maintain_order=True)
    stamped = pl.col("repeat").max().over("task_id").fill_null(-1)
    order = pl.col("repeat").is_null().cum_sum().over("task_id")
    number = pl.coalesce("repeat", (stamped + order).cast(pl.Int32))
    return in_natural_order(rows.with_columns(about.select("place", number).sort("place")["repeat"]))


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


def _source(row: dict[str, Any], shown: Mapping[int, str], side: str) -> RowSource:
    return RowSource(artifact=shown[row[f"file{side}"]], line=row[f"line{side}"], member=row[f"member{side}"])


class Expected(Struct, frozen=True, kw_only=True):
    """How many rollouts each task should have; `source` is None when nobody says."""

    source: str | None
    tasks: pl.DataFrame
    """`task_id`, rollouts that are `wanted` and rollouts that are `seen`, tasks without any row included."""
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
    seen = _seen(rollouts)
    named, source, notes = _named(inputs, stated, seen)
    lost = _wanted({task: count for task, count in absent.items() if count <= MOST_REPEATS})
    lost = lost.join(seen, on="task_id", how="anti") if lost.height else lost
    if lost.height:
        rest = named if named.height else seen.rename({"seen": "wanted"})
        named = pl.concat([rest, lost.join(rest, on="task_id", how="anti")])
        notes = (*notes, f"{lost.height} tasks are of shards that are not here")
    if repeats is not None:
        everyone = pl.concat([named["task_id"], seen["task_id"]]).unique(maintain_order=True)
        named, source = everyone.to_frame().with_columns(wanted=pl.lit(repeats, pl.Int64)), "user"
    pattern = _inferred(seen)
    if named.is_empty() and tasks is None:
        return replace(pattern, notes=notes)
    if named.is_empty():
        named, source = pattern.tasks.select("task_id", pl.coalesce("wanted", "seen").alias("wanted")), "user"
    both = _beside(named, seen)
    over = both.filter(pl.col("seen") > pl.col("wanted")).height
    if over:
        notes = (*notes, f"{over} tasks have more rollouts than expected")
    both = both.with_columns(pl.max_horizontal("wanted", "seen").alias("wanted"))
    if tasks is not None and tasks < both.height:
        notes = (*notes, f"{both.height} tasks are known where {tasks} were expected")
    unnamed = max(0, tasks - both.height) if tasks is not None else 0
    return Expected(source=source, tasks=both, unnamed=unnamed, notes=notes)


def _seen(rollouts: pl.DataFrame) -> pl.DataFrame:
    """`task_id`, and how many rollouts are `seen` of it."""
    stretches = Stretches.of(rollouts, "task_id")
    return pl.DataFrame({"task_id": stretches.first(rollouts["task_id"]), "seen": stretches.sizes()})


def _wanted(repeats: Mapping[str, int]) -> pl.DataFrame:
    schema = {"task_id": pl.String, "wanted": pl.Int64}
    return pl.DataFrame({"task_id": list(repeats), "wanted": list(repeats.values())}, schema=schema)


def _beside(named: pl.DataFrame, seen: pl.DataFrame) -> pl.DataFrame:
    """Tasks that are named or seen; one that is not seen has 0 rollouts, one that is not named has none wanted: null."""
    if named["task_id"].equals(seen["task_id"]):
        return named.with_columns(seen["seen"])
    both = named.join(seen, on="task_id", how="full", coalesce=True)
    return both.with_columns(pl.col("seen").fill_null(0))


def _named(
    inputs: pl.DataFrame, stated: tuple[str, Mapping[str, int]] | None, seen: pl.DataFrame
) -> tuple[pl.DataFrame, str | None, tuple[str, ...]]:
    """`task_id` and how many rollouts are `wanted` of it, who says so, and what is to be said about it."""
    if not inputs.is_empty():
        numbered = pl.col("repeat").null_count() == 0
        repeats = pl.when(numbered).then(pl.col("repeat").n_unique()).otherwise(pl.len()).cast(pl.Int64)
        return inputs.group_by("task_id").agg(repeats.alias("wanted")), "inputs", ()
    if stated is None:
        return _wanted({}), None, ()
    source, wanted = stated
    if max(wanted.values(), default=0) > MOST_REPEATS:
        why = f"the {source} expects more than {MOST_REPEATS} repeats of a task, which is not believed"
        return _wanted({}), None, (why,)
    named = _wanted(wanted)
    if seen.height and named.join(seen, on="task_id", how="semi").is_empty():
        return _wanted({}), None, (f"the {source} names {len(wanted)} tasks, and none of them is a task of the rows",)
    return named, source, ()


def _inferred(seen: pl.DataFrame) -> Expected:
    most = seen["seen"].max()
    full = (seen["seen"] == most).sum()
    if isinstance(most, int) and most >= 2 and full >= MOSTLY * seen.height:
        return Expected(source="inferred", tasks=seen.with_columns(wanted=pl.lit(most, pl.Int64)))
    reason = "no inputs, manifest or flag says how many rollouts were expected"
    return Expected(source=None, tasks=seen.with_columns(wanted=pl.lit(None, pl.Int64)), reason=reason)


def missing_rows(rollouts: pl.DataFrame, inputs: pl.DataFrame, expected: Expected) -> pl.DataFrame:
    """`task_id` and `repeat` of every expected rollout that has no row."""
    short = expected.tasks.filter(pl.col("wanted") > pl.col("seen")).sort("task_id")
    have, named = _repeats_of(rollouts, short), _repeats_of(inputs, short)
    rows = []
    for task, wanted in short.select("task_id", "wanted").iter_rows():
        taken = have.get(task, [])
        known = [] if None in named.get(task, []) else sorted(named.get(task, []))
        free = (repeat for repeat in dict.fromkeys([*known, *range(wanted + len(taken))]) if repeat not in taken)
        rows += [(task, repeat) for repeat in sorted(islice(free, wanted - len(taken)))]
    rows += [(name, repeat) for name in _unnamed(expected) for repeat in range(usual_repeats(expected))]
    frame = pl.DataFrame(rows, schema={"task_id": pl.String, "repeat": pl.Int32}, orient="row")
    return frame.with_columns(outcome=pl.lit(str(Outcome.MISSING)))


def _repeats_of(rows: pl.DataFrame, tasks: pl.DataFrame) -> dict[str, list[int]]:
    """The repeats that rows have of each of the tasks."""
    if tasks.is_empty() or rows.is_empty():
        return {}
    mine = rows.select("task_id", "repeat").join(tasks, on="task_id", how="semi")
    return dict(mine.group_by("task_id").agg(pl.col("repeat").unique()).iter_rows())


def _unnamed(expected: Expected) -> list[str]:
    """Names for expected tasks that nothing names; none of them is taken."""
    if not expected.unnamed:
        return []
    taken = set(expected.tasks["task_id"])
    names = (f"missing-{number}" for number in count(1))
    return list(islice((name for name in names if name not in taken), expected.unnamed))


def usual_repeats(expected: Expected) -> int:
    """The commonest number of repeats, ties to the smaller."""
    usual = expected.tasks["wanted"].drop_nulls().mode().min()
    return usual if isinstance(usual, int) else 1
