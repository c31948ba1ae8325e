"""Small values of rows under names that nobody knows: settings of the run, or properties of a task that cut the tasks into slices."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache

import polars as pl

from blade.ingest import fields
from blade.ingest.batch import Batch
from blade.ingest.cells import Column, Memo, any_there
from blade.ingest.decode import decode_any, encode
from blade.ingest.fields import KNOWN_SLICES
from blade.ingest.frames import Stretches, kept, looked_up
from blade.ingest.row_table import EXTRA
from blade.model.roles import Role

LONGEST_EXTRA = 48
LARGEST_METADATA = 4096
_NO_SCALAR = b"{[n"

_TAKEN = frozenset(
    path.split(".")[0] for field in fields.TABLE for path in field.paths if path not in fields.KNOWN_SLICES
) | {"seed", "agent_ref", "skills_ref", "usage", "created_at", "created", "timestamp"}


_OF_A_ROLLOUT: Sequence[Role] = ("reward", "produced", "score-part", "annotation")
"""Roles of fields that say what became of a rollout, and nothing of its task."""


class Extras:
    """Reads them from the batches of one artifact."""

    def __init__(self) -> None:
        self._small = Memo(_small)
        self._inside = Memo(_metadata_extras)

    def columns(self, batch: Batch) -> dict[str, Column]:
        """Small values that may turn out to be slices, as JSON text."""
        plain, nested = _slice_names(tuple(batch.columns), fields.of_run())
        found: dict[str, Column] = {EXTRA + name: self._small.column(batch.columns[name]) for name in plain}
        for name in nested:
            inside = [texts or {} for texts in self._inside.column(batch.columns[name])]
            for key in dict.fromkeys(key for texts in inside for key in texts):
                found[f"{EXTRA}{name}.{key}"] = [texts.get(key) for texts in inside]
        return {name: column for name, column in found.items() if any_there(column)}


def _small(raw: bytes) -> str | None:
    return str(raw, "utf-8") if len(raw) <= LONGEST_EXTRA and raw[0] not in _NO_SCALAR else None


@cache
def _may_be_slice(name: str) -> bool:
    return name not in _TAKEN and not name.startswith("_") and not fields.is_verdict(name)


@lru_cache(maxsize=4096)
def _slice_names(names: tuple[str, ...], table: fields.RunFields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the fields of rows: those that may become slices, and objects whose fields may."""
    of_rollout = {path for role in _OF_A_ROLLOUT for path in table.roles.paths(role)}
    small = (name for name in names if name not in fields.METADATA_NAMES and name not in of_rollout)
    plain = tuple(name for name in small if _may_be_slice(name))
    return plain, tuple(name for name in names if name in fields.METADATA_NAMES)


def _metadata_extras(raw: bytes) -> dict[str, str]:
    value = decode_any(raw) if len(raw) <= LARGEST_METADATA else None
    if not isinstance(value, dict):
        return {}
    small = {key: item for key, item in value.items() if isinstance(item, str | int | float) and _may_be_slice(key)}
    texts = {key: bytes(encode(item)).decode() for key, item in small.items() if key not in fields.ID_NAMES}
    return {key: text for key, text in texts.items() if len(text) <= LONGEST_EXTRA}


FEWEST_ROWS = 3
MOST_CONSTANTS = 24
_OF_THE_TASK = frozenset(KNOWN_SLICES) - {"domain", "split"}


def constants(rows: pl.DataFrame) -> dict[str, str]:
    """By name of the field, as people read it; of rollouts only, and none where they are few."""
    mine = kept(rows, pl.col("role") == "rollouts")
    if mine.height < FEWEST_ROWS:
        return {}
    found = {}
    for column in sorted(name for name in mine.columns if name.startswith(EXTRA)):
        name = column.removeprefix(EXTRA)
        if name in _OF_THE_TASK or mine[column].null_count() or mine[column].n_unique() != 1:
            continue
        value = json.loads(mine[column][0])
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            found[name] = label(value)
    return dict(list(found.items())[:MOST_CONSTANTS])


LONGEST = 40
MOST_VALUES = 12
FEWEST_TASKS = 5
MOST_FIELDS = 8

_FRACTION = r"^-?\d+(?:\.\d*[1-9]|\d*[eE]-)"
"""A number that only a grade or a clock gives: the same in every repeat, it may still be a result."""
_INPUTS = ("inputs", "dataset")
_MARKS = ("key_fp", "prompt_fp", "id_mark")


def slice_columns(
    rows: pl.DataFrame, scores: pl.DataFrame, others: Sequence[pl.DataFrame] = (), wanted: Sequence[str] = ()
) -> pl.DataFrame:
    """One `slice.<field>` column each; `scores` holds each task's pass rate, and bars verdicts in disguise.

    Both are in order of tasks, and so is what comes back: one row for each task that has a score.

    Fields of the inputs count; without inputs, fields that are the same in every repeat of each task, where enough tasks
    have repeats; else those that are the same in every run that has the task (`others`); else only names that are
    known to speak of the task, which may decide it. Fields that are `wanted` come first, and count where one task has
    one value.
    """
    known = (*wanted, *KNOWN_SLICES)
    found: list[pl.Series] = []
    for name in _candidates(rows, known):
        values = _by_task(rows, name, others, known)
        labelled = None if values is None else _labels(values)
        if labelled is None or (_rank(name, known) == len(known) and _fixes_outcome(labelled, scores)):
            continue
        column = looked_up(scores, labelled, "task_id").to_series()
        found.append(column.alias(f"slice.{name.removeprefix(EXTRA)}"))
        if len(found) == MOST_FIELDS:
            break
    return pl.DataFrame(found)


def _candidates(rows: pl.DataFrame, known: Sequence[str]) -> list[str]:
    """Fields with small values, names that are known to speak of the task first."""
    names = [name for name in rows.columns if name.startswith(EXTRA) and rows[name].count()]
    return sorted(names, key=lambda name: (_rank(name, known), name))


def _rank(name: str, known: Sequence[str]) -> int:
    """Place among the known names, by the whole path or its last part; their number when it is none of them."""
    path = name.removeprefix(EXTRA)
    return next((place for place, one in enumerate(known) if one in (path, path.rpartition(".")[2])), len(known))


def _by_task(
    rows: pl.DataFrame, name: str, others: Sequence[pl.DataFrame], known: Sequence[str]
) -> pl.DataFrame | None:
    """One value a task; None when the field is not the task's own."""
    valued = kept(rows.select("task_id", "role", *_MARKS, name), pl.col(name).is_not_null())
    inputs = valued.filter(pl.col("role").is_in(_INPUTS))
    source = inputs if not inputs.is_empty() else kept(valued, pl.col("role") == "rollouts")
    stretches = Stretches.of(source, "task_id")
    if source.is_empty() or stretches.differing(source.select(name)):
        return None
    tasks = source.select("task_id", value=name)[stretches.firsts]
    if inputs.is_empty() and _rank(name, known) == len(known):
        repeated = (stretches.sizes() > 1).sum() >= FEWEST_TASKS
        own = repeated or _same_in_runs(source, name, others)
        if not own or tasks["value"].str.contains(_FRACTION).any():
            return None
    return tasks


def _same_in_runs(rows: pl.DataFrame, name: str, others: Sequence[pl.DataFrame]) -> bool:
    """Whether enough tasks are in another run too, and the field is the same there in every one of them."""
    mark = pl.coalesce(pl.format("k{}", "key_fp"), pl.format("p{}", "prompt_fp"), pl.format("i{}", "id_mark")).alias(
        "mark"
    )
    frames = [
        frame.select(mark, pl.col(name).alias("value"), pl.lit(number).alias("number")).drop_nulls()
        for number, frame in enumerate([rows, *(other for other in others if name in other.columns)])
    ]
    shared = pl.concat(frames).group_by("mark").agg(pl.col("value").n_unique(), pl.col("number").n_unique())
    shared = shared.filter(pl.col("number") > 1)
    return shared.height >= FEWEST_TASKS and shared.filter(pl.col("value") > 1).is_empty()


def _labels(values: pl.DataFrame) -> pl.DataFrame | None:
    """Values as people read them; None when there are too few, too many or too small groups, also with numbers in thirds."""
    decoded = {text: json.loads(text) for text in values["value"].unique().sort()}
    if any(isinstance(value, str) and len(value) > LONGEST for value in decoded.values()):
        return None
    names = {text: label(value) for text, value in decoded.items()}
    labelled = values.with_columns(pl.col("value").replace_strict(names, return_dtype=pl.String))
    if _is_cut_well(labelled):
        return labelled
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in decoded.values()):
        return None
    numbers = {text: float(value) for text, value in decoded.items()}
    thirds = _thirds(values.with_columns(pl.col("value").replace_strict(numbers, return_dtype=pl.Float64)))
    return thirds if _is_cut_well(thirds) else None


def _is_cut_well(labelled: pl.DataFrame) -> bool:
    sizes = labelled.group_by("value").len()["len"].to_list()
    return 2 <= len(sizes) <= MOST_VALUES and min(sizes) >= FEWEST_TASKS


def label(value: object) -> str:
    """A small value as people read it."""
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
