"""Which rows are of the same task, and what the task is called.

Marks of a task: an id that the artifact gives, a fingerprint of its own fields (the key), a fingerprint of its prompt.
A position in the inputs is not an id: it tells tasks apart within a file and never between files.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.ingest.fields import ANSWER_KEYS
from blade.ingest.fingerprints import hashed
from blade.ingest.frames import kept, looked_up, natural
from blade.ingest.row_table import KEY

MOSTLY = 0.5
"""Share of tasks with repeats in which a field must be the same before it is taken as the task's own."""

_MIX = 0x9E3779B97F4A7C15
_HALF = 1 << 32
_TIMES, _LEAST, _MOST = " times", " least", " most"
"""Ends of the names of columns that tell what rows say."""


def identify(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `task_id`, `id_kind`, `id_mark`, `key_fp` and `prompt_fp`; independent of the order of rows."""
    rows = rows.with_columns(_position(rows).alias("position"))
    rows = rows.with_columns(_id_mark(rows))
    rows = rows.with_columns(_known(rows))
    rows = rows.with_columns(_marks(rows))
    rows = rows.with_columns(_is_marked(rows).alias("marked"))
    return rows.with_columns(_kind(), _task_ids(rows)).drop("position", "known", "marked")


def first_index(rows: pl.DataFrame) -> pl.Expr:
    """The index that some rows have in the first of their files."""
    if rows["index"].null_count() == 0 and rows["file"].n_unique() == 1:
        return pl.col("index").min()
    return pl.col("index").sort_by("file", "index").first()


def _position(rows: pl.DataFrame) -> pl.Expr:
    """Equal for rows of one bundle and index; a number where all indexes fit into half of one, which is told apart faster."""
    low, high = rows["index"].min(), rows["index"].max()
    if isinstance(low, int) and isinstance(high, int) and low >= 0 and high < _HALF:
        return pl.col("bundle").cast(pl.Int64) * _HALF + pl.col("index")
    return pl.when(pl.col("index").is_not_null()).then(pl.format("p{}:{}", "bundle", "index"))


def _known(rows: pl.DataFrame) -> pl.Expr:
    """What a task is known by: its position, else its id."""
    if rows["position"].null_count() == 0:
        return pl.col("position").alias("known")
    return pl.coalesce(pl.format("p{}", "position"), pl.format("i{}", "id_mark")).alias("known")


def _id_mark(rows: pl.DataFrame) -> pl.Series:
    """The id of each row, where it names one task."""
    if rows["id"].null_count() == rows.height:
        return rows["id"].alias("id_mark")
    at_position = _said(rows, "position", ["id"])
    rows = rows.with_columns(_settled(rows, at_position, "position", ["id"])["id"].alias("id_mark"))
    usable = looked_up(rows, _usable_ids(rows), "id_mark").to_series()
    return rows.select(pl.when(usable).then("id_mark").alias("id_mark")).to_series()


def _usable_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Each id, and whether it names one task: at most one position a file, and rows that agree in key or in prompt."""
    keys = _key_columns(rows)
    own = _own_fields(_said(rows.with_columns(_known(rows)), "known", keys), _filled(rows, keys))
    places = pl.col("position").drop_nulls().n_unique()
    files = pl.col("bundle").filter(pl.col("position").is_not_null()).n_unique()
    counted = _counts_repeats().alias("counted")
    of_id = _said(rows, "id_mark", [*keys, "prompt_fp"], (places <= files).alias("placed"), counted)
    same_key = pl.all_horizontal([_has_at_most_one(name) for name in own] or [pl.lit(True)])
    has_key = pl.any_horizontal([_has_any(name) for name in own] or [pl.lit(False)])
    no_field = pl.all_horizontal([~_has_any(name) for name in keys] or [pl.lit(True)])
    prompts = _has_any("prompt_fp")
    agree = (has_key & same_key) | (prompts & _has_at_most_one("prompt_fp")) | (no_field & ~prompts)
    agree |= pl.col("counted")
    return of_id.select("id_mark", (pl.col("placed") & agree).alias("usable"))


def _counts_repeats() -> pl.Expr:
    """Whether every row of an id has a repeat number of its own, counted without a gap: so are attempts numbered, whatever
    else differs between them, such as the first words of a simulated user.
    """
    repeat = pl.col("repeat")
    whole = (repeat.null_count() == 0) & (repeat.max() - repeat.min() + 1 == pl.len())
    return whole & (repeat.n_unique() == pl.len()) & (pl.len() > 1)


def _said(rows: pl.DataFrame, by: str, names: Sequence[str], *more: pl.Expr) -> pl.DataFrame:
    """For each value of `by`: how many of its rows say something in each column, and the least and most that they say."""
    columns = map(pl.col, names)
    said = [
        one.name.suffix(suffix)
        for column in columns
        for one, suffix in ((column.count(), _TIMES), (column.min(), _LEAST), (column.max(), _MOST))
    ]
    return rows.group_by(by).agg(*more, *said).filter(pl.col(by).is_not_null())


def _has_any(name: str) -> pl.Expr:
    """Whether some row says something."""
    return pl.col(name + _TIMES) > 0


def _has_at_most_one(name: str) -> pl.Expr:
    """Whether no two rows say different things."""
    return pl.col(name + _LEAST).eq_missing(pl.col(name + _MOST))


def _settled(rows: pl.DataFrame, said: pl.DataFrame, by: str, names: Sequence[str]) -> pl.DataFrame:
    """The one value that all rows with the same `by` have; null where they differ. Rows without it keep their own."""
    shared = said.select(by, *(pl.when(_has_at_most_one(name)).then(name + _MOST).alias(name) for name in names))
    found = looked_up(rows, shared, by)
    if rows[by].null_count() == 0:
        return found
    return rows.select(pl.when(pl.col(by).is_null()).then(name).otherwise(found[name]).alias(name) for name in names)


def _marks(rows: pl.DataFrame) -> pl.DataFrame:
    """`key_fp` and `prompt_fp`: fingerprints of the task's own fields and of its prompt.

    Where the rollouts have fields of their own, those that only the inputs have are left out.
    """
    keys = _key_columns(rows)
    said = _said(rows, "known", [*keys, "prompt_fp"])
    rollouts = kept(rows, pl.col("role") == "rollouts")
    if rollouts is rows or not _filled(rollouts, keys):
        own = _own_fields(said, _filled(rows, keys))
    else:
        own = _own_fields(_said(rollouts, "known", keys), _filled(rollouts, keys))
    return _settled(rows, said, "known", [*own, "prompt_fp"]).select(_fold(own).alias("key_fp"), "prompt_fp")


def _key_columns(rows: pl.DataFrame) -> list[str]:
    return sorted(name for name in rows.columns if name.startswith(KEY))


def _filled(rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Those of the columns in which some row says something."""
    return [name for name in names if rows[name].count()]


def _own_fields(said: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Fields that are the same in every repeat of most tasks that have repeats; one that changes is a result."""
    if not names:
        return []
    repeated = {name: pl.col(name + _TIMES) > 1 for name in names}
    same = {name: (repeated[name] & _has_at_most_one(name)).sum() for name in names}
    own = said.select((same[name] >= MOSTLY * repeated[name].sum()).alias(name) for name in names)
    return [name for name in names if own[name].item()]


def _is_marked(rows: pl.DataFrame) -> pl.Expr:
    """Whether key and prompt name a task: an answer alone does not, many tasks may have the same."""
    told = [pl.col(name).is_not_null() for name in _key_columns(rows) if name.removeprefix(KEY) not in ANSWER_KEYS]
    return pl.col("prompt_fp").is_not_null() | (
        pl.col("key_fp").is_not_null() & pl.any_horizontal(told or [pl.lit(False)])
    )


def _fold(names: Sequence[str]) -> pl.Expr:
    """One number from several fingerprints, null where all are; the same whichever other fields a file has."""
    marks = [pl.col(name) ^ pl.lit(hashed(name.encode()), pl.UInt64) for name in names]
    mixed = [mark * pl.lit(_MIX, pl.UInt64) for mark in marks]
    total = pl.sum_horizontal([one ^ (one // _HALF) for one in mixed] or [pl.lit(0, pl.UInt64)])
    return pl.when(pl.any_horizontal([pl.col(name).is_not_null() for name in names] or [pl.lit(False)])).then(total)


def _kind() -> pl.Expr:
    return (
        pl.when(pl.col("id_mark").is_not_null())
        .then(pl.lit("id"))
        .when(pl.col("index").is_not_null())
        .then(pl.lit("position"))
        .when(pl.col("key_fp").is_not_null() & pl.col("prompt_fp").is_not_null())
        .then(pl.lit("key+prompt"))
        .when(pl.col("key_fp").is_not_null() & pl.col("marked"))
        .then(pl.lit("key"))
        .when(pl.col("prompt_fp").is_not_null())
        .then(pl.lit("prompt"))
        .otherwise(pl.lit("line"))
        .alias("id_kind")
    )


def _task_ids(rows: pl.DataFrame) -> pl.Series:
    """What the task of each row is called."""
    bundles, marked = rows["bundle"].n_unique(), rows["id_mark"].count()
    if marked == rows.height:
        return rows["id_mark"].alias("task_id")
    if not marked and bundles == 1 and rows["index"].null_count() == 0:
        return rows["index"].cast(pl.String).alias("task_id")
    rows = rows.with_columns(_token(bundles))
    return looked_up(rows, _names(rows), "token")["task_id"]


def _token(bundles: int) -> pl.Expr:
    """Equal for rows of the same task, different otherwise."""
    marked = pl.col("key_fp").is_not_null() | pl.col("prompt_fp").is_not_null()
    marks = pl.format("{}:{}", pl.col("key_fp").fill_null(0), pl.col("prompt_fp").fill_null(0))
    # Between files marks decide; the second task of a file with the same marks is the second of the other file.
    nth = pl.col("index").rank("dense").over("bundle", "key_fp", "prompt_fp")
    by_marks = marked & (bundles > 1)
    position = pl.when(by_marks).then(pl.format("p:{}:{}", marks, nth)).otherwise(pl.format("p:{}", "index"))
    place = pl.coalesce(pl.col("line").cast(pl.String), pl.col("member"), pl.lit(""))
    return (
        pl.when(pl.col("id_mark").is_not_null())
        .then(pl.format("i:{}", "id_mark"))
        .when(pl.col("index").is_not_null())
        .then(position)
        .when("marked")
        .then(pl.format("k:{}", marks))
        .otherwise(pl.format("l:{}:{}", pl.col("file"), place))
        .alias("token")
    )


def _names(rows: pl.DataFrame) -> pl.DataFrame:
    """A unique `task_id` for each token: the id, the position, or the first digits of the marks."""
    about = ("id_mark", "key_fp", "prompt_fp", "member")
    tokens = rows.group_by("token").agg(
        first_index(rows), pl.col("line").min(), *(pl.col(name).max() for name in about)
    )
    tokens = tokens.with_columns(_wanted().alias("task_id"))
    clashing = tokens.filter(pl.len().over("task_id") > 1)
    if clashing.is_empty():
        return tokens.select("token", "task_id")
    return _told_apart(tokens, clashing)


def _told_apart(tokens: pl.DataFrame, clashing: pl.DataFrame) -> pl.DataFrame:
    """Names of which several tokens want the same: the first in order keeps it, the others get a number."""
    taken = set(tokens.join(clashing, on="token", how="anti")["task_id"])
    names = {}
    for row in sorted(clashing.iter_rows(named=True), key=lambda row: (row["index"] or 0, natural(row["token"]))):
        names[row["token"]] = _unique(row["task_id"], taken)
    changed = pl.col("token").replace_strict(names, default=pl.col("task_id"), return_dtype=pl.String)
    return tokens.select("token", changed.alias("task_id"))


def _wanted() -> pl.Expr:
    """The id, the position, the first digits of the marks, the line or the member."""
    marks = pl.col("key_fp").fill_null(0) ^ pl.col("prompt_fp").fill_null(0)
    digits = (marks // (1 << 32)).map_elements(lambda mark: f"{mark:08x}", return_dtype=pl.String)
    return (
        pl.when(pl.col("id_mark").is_not_null())
        .then(pl.col("id_mark"))
        .when(pl.col("token").str.starts_with("p:"))
        .then(pl.col("index").cast(pl.String))
        .when(pl.col("token").str.starts_with("k:"))
        .then(digits)
        .when(pl.col("line").is_not_null())
        .then(pl.format("line{}", "line"))
        .otherwise(pl.col("member").fill_null("row"))
    )


def _unique(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}~{number}"
    taken.add(name)
    return name
