"""Runs whose rows hold no key while their inputs do: their rollouts are compared once more, with the key beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from blade.evidence.differences import differences
from blade.ingest.row_table import differences as column
from blade.model.finding import Difference
from blade.model.run import Run

MOST = 20_000
"""Rollouts that are compared; the rest keep what the scan saw."""
AT_A_TIME = 500


def with_keys_beside(run: Run) -> Run:
    """The run with `differs` made from the keys of its inputs, where its own rows have none."""
    keyed = run.tasks.filter(pl.col("key_artifact").is_not_null())["task_id"]
    if keyed.is_empty() or run.read is None:
        return run
    mine = pl.col("task_id").is_in(keyed.implode()) & pl.col("outcome").is_in(["passed", "failed"])
    places = list(
        run.rollouts.select("task_id", "repeat", "outcome").filter(mine).drop("outcome").head(MOST).iter_rows()
    )
    return replace(run, rollouts=_replaced(run, places))


def _replaced(run: Run, places: Sequence[tuple[str, int]]) -> pl.DataFrame:
    found: dict[tuple[str, int], tuple[Difference, ...]] = {}
    for start in range(0, len(places), AT_A_TIME):
        some = places[start : start + AT_A_TIME]
        rollouts = run.read(run, some) if run.read is not None else []
        found |= {place: differences(rollout) for place, rollout in zip(some, rollouts, strict=True)}
    fresh = pl.DataFrame(
        {"task_id": [task for task, _ in found], "repeat": [repeat for _, repeat in found]},
        schema={"task_id": pl.String, "repeat": pl.Int32},
    ).with_columns(column("fresh", list(found.values())), pl.lit(True).alias("read"))
    joined = run.rollouts.join(fresh, on=["task_id", "repeat"], how="left", maintain_order="left")
    chosen = pl.when(pl.col("read")).then(pl.col("fresh")).otherwise(pl.col("differs")).alias("differs")
    return joined.with_columns(chosen).drop("fresh", "read")
