"""Which fields are properties of a task, and so may cut the tasks into slices."""

from __future__ import annotations

import json

import polars as pl

from blade.ingest.fields import KNOWN_SLICES
from blade.ingest.light import EXTRA

LONGEST = 40
MOST_VALUES = 12
FEWEST_TASKS = 5
MOST_FIELDS = 8


def slice_columns(rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """`task_id` and one `slice.<field>` column each; `scores` holds each task's pass rate, and bars verdicts in disguise.

    Fields of the inputs count; without inputs, fields that are the same in every repeat of each task, where enough tasks
    have repeats; else only names that are known to speak of the task.
    """
    tasks = scores.select("task_id").sort("task_id")
    found = 0
    for name in _candidates(rows):
        values = _by_task(rows, name)
        if values is None:
            continue
        labelled = _labels(values)
        if labelled is not None and not _fixes_outcome(labelled, scores):
            tasks = tasks.join(
                labelled.rename({"value": f"slice.{name.removeprefix(EXTRA)}"}), on="task_id", how="left"
            )
            found += 1
        if found == MOST_FIELDS:
            break
    return tasks


def _candidates(rows: pl.DataFrame) -> list[str]:
    names = [name for name in rows.columns if name.startswith(EXTRA)]
    ranks = {known: place for place, known in enumerate(KNOWN_SLICES)}
    return sorted(names, key=lambda name: (ranks.get(name.removeprefix(EXTRA).rpartition(".")[2], len(ranks)), name))


def _by_task(rows: pl.DataFrame, name: str) -> pl.DataFrame | None:
    """One value a task; None when the field is not the task's own."""
    inputs = rows.filter(pl.col("role").is_in(["inputs", "dataset"]) & pl.col(name).is_not_null())
    source = (
        inputs if not inputs.is_empty() else rows.filter((pl.col("role") == "rollouts") & pl.col(name).is_not_null())
    )
    if source.is_empty():
        return None
    tasks = source.group_by("task_id").agg(
        pl.col(name).min().alias("value"), pl.col(name).n_unique().alias("kinds"), pl.len()
    )
    if tasks["kinds"].max() != 1:
        return None
    known = name.removeprefix(EXTRA).rpartition(".")[2] in KNOWN_SLICES
    repeated = tasks.filter(pl.col("len") > 1).height >= FEWEST_TASKS
    if inputs.is_empty() and not repeated and not known:
        return None
    return tasks.select("task_id", "value")


def _labels(values: pl.DataFrame) -> pl.DataFrame | None:
    """Values as people read them, numbers in thirds; None when there are too few, too many or too small groups."""
    decoded = {text: json.loads(text) for text in values["value"].unique().sort()}
    if len(decoded) > MOST_VALUES and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in decoded.values()
    ):
        labelled = _thirds(values.with_columns(pl.col("value").cast(pl.Float64)))
    elif len(decoded) > MOST_VALUES or any(isinstance(v, str) and len(v) > LONGEST for v in decoded.values()):
        return None
    else:
        names = {text: _label(value) for text, value in decoded.items()}
        labelled = values.with_columns(pl.col("value").replace_strict(names, return_dtype=pl.String))
    sizes = labelled.group_by("value").len()["len"]
    return labelled if len(sizes) >= 2 and int(sizes.min() or 0) >= FEWEST_TASKS else None


def _label(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value) or "(empty)"


def _thirds(values: pl.DataFrame) -> pl.DataFrame:
    numbers = values["value"].sort()
    low, high = numbers[len(numbers) // 3], numbers[2 * len(numbers) // 3]
    place = (
        pl.when(pl.col("value") < low)
        .then(pl.lit(f"below {low:g}"))
        .when(pl.col("value") < high)
        .then(pl.lit(f"{low:g} to {high:g}"))
        .otherwise(pl.lit(f"{high:g} and above"))
    )
    return values.with_columns(place.alias("value"))


def _fixes_outcome(labelled: pl.DataFrame, scores: pl.DataFrame) -> bool:
    """Whether the value tells every task's outcome: then it is the verdict under another name."""
    both = labelled.join(scores.drop_nulls("score"), on="task_id")
    if both["score"].n_unique() < 2:
        return False
    return both.group_by("value").agg(pl.col("score").n_unique())["score"].max() == 1
