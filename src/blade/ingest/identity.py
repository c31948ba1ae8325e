"""Which rows are of the same task, and what the task is called.

Marks of a task: an id that the artifact gives, a fingerprint of its own fields (the key), a fingerprint of its prompt.
A position in the inputs is not an id: it tells tasks apart within a file and never between files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from blade.ingest.light import KEY

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SPLIT = re.compile(r"(\d+)")


def identify(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `task_id`, `id_kind`, `id_mark`, `key_fp` and `prompt_fp`; independent of the order of rows."""
    rows = rows.with_columns(_known().alias("known"))
    rows = rows.with_columns(_key_fp(rows), _prompt_fp())
    rows = _resolve_ids(rows)
    rows = rows.with_columns(_token(rows["bundle"].n_unique()), _kind())
    return rows.join(_names(rows), on="token", how="left", maintain_order="left").drop("known", "token")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which `task10` comes after `task9`."""
    parts = _SPLIT.split(text)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)


def _known() -> pl.Expr:
    """A task known by position in its file, else by id; null when by neither."""
    position = pl.format("p{}:{}", "bundle", "index")
    return pl.when(pl.col("index").is_not_null()).then(position).otherwise(pl.format("i{}", "id"))


def _key_fp(rows: pl.DataFrame) -> pl.Series:
    """Fingerprint of the task's own fields; a field that differs among the repeats of a known task is not its own."""
    rollouts = rows.filter(pl.col("role") == "rollouts")
    source = rollouts if any(rollouts[name].count() for name in _key_columns(rollouts)) else rows
    names = [name for name in _key_columns(source) if source[name].count() and _is_stable(source, name)]
    return _fold(rows, names).alias("key_fp")


def _key_columns(rows: pl.DataFrame) -> list[str]:
    return sorted(name for name in rows.columns if name.startswith(KEY))


def _is_stable(rows: pl.DataFrame, name: str) -> bool:
    known = rows.filter(pl.col("known").is_not_null() & pl.col(name).is_not_null())
    if known.is_empty():
        return True
    return known.group_by("known").agg(pl.col(name).n_unique())[name].max() == 1


def _fold(rows: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """One number from several fingerprints, null where all are; made by wrapping arithmetic, so the same everywhere."""
    total = np.zeros(rows.height, np.uint64)
    some = np.zeros(rows.height, np.bool_)
    for name in names:
        value = rows[name].fill_null(0).to_numpy()
        total = (total ^ value) * _MIX + np.uint64(1)
        some |= rows[name].is_not_null().to_numpy()
    folded = pl.Series("fold", total, pl.UInt64)
    return pl.select(pl.when(pl.Series("some", some)).then(folded).alias("fold"))["fold"]


def _prompt_fp() -> pl.Expr:
    """A prompt that differs among the repeats of a known task is no mark of it."""
    varies = pl.col("prompt_fp").n_unique().over("known") > 1
    return pl.when(varies & pl.col("known").is_not_null()).then(None).otherwise(pl.col("prompt_fp")).alias("prompt_fp")


def _resolve_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """`id_mark`: the id where it names one task; rows of one position share the id that any of them has."""
    position = pl.when(pl.col("index").is_not_null()).then(pl.format("{}:{}", "bundle", "index"))
    rows = rows.with_columns(position.alias("position"))
    one_id = pl.col("id").drop_nulls().n_unique().over("position") == 1
    shared = pl.when(pl.col("position").is_null()).then(pl.col("id")).when(one_id).then(_any_of("id").over("position"))
    rows = rows.with_columns(shared.alias("id_mark"))
    places = pl.struct("bundle", "position").filter(pl.col("position").is_not_null()).n_unique().over("id_mark")
    bundles = pl.col("bundle").filter(pl.col("position").is_not_null()).n_unique().over("id_mark")
    agree = _agree("key_fp") | _agree("prompt_fp")
    usable = pl.col("id_mark").is_not_null() & (places <= bundles) & agree
    return rows.with_columns(pl.when(usable).then(pl.col("id_mark")).alias("id_mark")).drop("position")


def _any_of(name: str) -> pl.Expr:
    return pl.col(name).drop_nulls().first()


def _agree(name: str) -> pl.Expr:
    return pl.col(name).drop_nulls().n_unique().over("id_mark") <= 1


def _kind() -> pl.Expr:
    return (
        pl.when(pl.col("id_mark").is_not_null())
        .then(pl.lit("id"))
        .when(pl.col("index").is_not_null())
        .then(pl.lit("position"))
        .when(pl.col("key_fp").is_not_null() & pl.col("prompt_fp").is_not_null())
        .then(pl.lit("key+prompt"))
        .when(pl.col("key_fp").is_not_null())
        .then(pl.lit("key"))
        .when(pl.col("prompt_fp").is_not_null())
        .then(pl.lit("prompt"))
        .otherwise(pl.lit("line"))
        .alias("id_kind")
    )


def _token(bundles: int) -> pl.Expr:
    """Equal for rows of the same task, different otherwise."""
    mark = pl.coalesce(_any_of("key_fp").over("known"), _any_of("prompt_fp").over("known")).fill_null(0)
    position = pl.format("p:{}", "index") if bundles == 1 else pl.format("p:{}:{}", pl.col("index"), mark)
    marks = pl.format("k:{}:{}", pl.col("key_fp").fill_null(0), pl.col("prompt_fp").fill_null(0))
    return (
        pl.when(pl.col("id_mark").is_not_null())
        .then(pl.format("i:{}", "id_mark"))
        .when(pl.col("index").is_not_null())
        .then(position)
        .when(pl.col("key_fp").is_not_null() | pl.col("prompt_fp").is_not_null())
        .then(marks)
        .otherwise(pl.format("l:{}:{}", pl.col("file"), pl.col("line").fill_null(0)))
        .alias("token")
    )


def _names(rows: pl.DataFrame) -> pl.DataFrame:
    """A unique `task_id` for each token: the id, the position, or the first digits of the marks."""
    tokens = rows.group_by("token").agg(
        pl.col("id_mark").first(),
        pl.col("index").min(),
        pl.col("key_fp").first(),
        pl.col("prompt_fp").first(),
        pl.col("line").min(),
        pl.col("member").min(),
    )
    names: dict[str, str] = {}
    taken: set[str] = set()
    for row in sorted(tokens.iter_rows(named=True), key=lambda row: natural(row["token"])):
        names[row["token"]] = _unique(_wanted(row), taken)
    return pl.DataFrame(
        {"token": list(names), "task_id": list(names.values())}, schema={"token": pl.String, "task_id": pl.String}
    )


def _wanted(row: dict[str, object]) -> str:
    if row["id_mark"] is not None:
        return str(row["id_mark"])
    if str(row["token"]).startswith("p:"):
        return str(row["index"])
    if str(row["token"]).startswith("k:"):
        return f"{(int(str(row['key_fp'] or 0)) ^ int(str(row['prompt_fp'] or 0))):016x}"[:8]
    return f"line{row['line']}" if row["line"] is not None else str(row["member"])


def _unique(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}~{number}"
    taken.add(name)
    return name
