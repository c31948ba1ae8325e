"""Which rows are of the same task, and what the task is called.

Marks of a task: an id that the artifact gives, a fingerprint of its own fields (the key), a fingerprint of its prompt.
A position in the inputs is not an id: it tells tasks apart within a file and never between files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from blade.ingest.fields import ANSWER_KEYS
from blade.ingest.frames import kept, looked_up
from blade.ingest.light import KEY
from blade.ingest.marks import hashed

MOSTLY = 0.5
"""Share of tasks with repeats in which a field must be the same before it is taken as the task's own."""

_MIX = 0x9E3779B97F4A7C15
_HALF = 1 << 32
_SPLIT = re.compile(r"(\d+)")


def identify(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `task_id`, `id_kind`, `id_mark`, `key_fp` and `prompt_fp`; independent of the order of rows."""
    rows = rows.with_columns(_position(rows).alias("position"))
    rows = rows.with_columns(_id_mark(rows))
    rows = rows.with_columns(_known(rows))
    rows = rows.with_columns(_key_fp(rows), _settled("prompt_fp").alias("prompt_fp"))
    rows = rows.with_columns(_is_marked(rows).alias("marked"))
    return rows.with_columns(_kind(), _task_ids(rows)).drop("position", "known", "marked")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which `task10` comes after `task9`; no two texts have the same."""
    parts = ((part, part.lstrip("0")) for part in _SPLIT.split(text) if part)
    key = tuple((0, len(digits), digits) if part.isdecimal() else (1, 0, part) for part, digits in parts)
    return (*key, (-1, 0, text))


def natural_sorted(names: pl.Series) -> list[str]:
    """The names in natural order; plain numbers, the common case, are sorted as numbers."""
    plain = names.str.contains(r"^(?:0|[1-9][0-9]{0,17})$").all()
    return names.cast(pl.Int64).sort().cast(pl.String).to_list() if plain else sorted(names.to_list(), key=natural)


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
    rows = rows.with_columns(_given_id().alias("id_mark"))
    return rows.select(_usable_id(rows).alias("id_mark")).to_series()


def _given_id() -> pl.Expr:
    """The id of a row; rows of one position share the id that any of them has, and have none when they differ."""
    at_position = pl.col("id").drop_nulls()
    shared = pl.when(at_position.n_unique().over("position") == 1).then(at_position.max().over("position"))
    return pl.when(pl.col("position").is_null()).then(pl.col("id")).otherwise(shared)


def _usable_id(rows: pl.DataFrame) -> pl.Expr:
    """The id where it names one task: at most one position a file, and rows that agree in key or in prompt."""
    own = _own_fields(rows.with_columns(_known(rows)))
    of_id = pl.col("id_mark")
    places = pl.col("position").drop_nulls().n_unique().over(of_id)
    files = pl.col("bundle").filter(pl.col("position").is_not_null()).n_unique().over(of_id)
    same_key = pl.all_horizontal([_kinds(name, of_id) <= 1 for name in own] or [pl.lit(True)])
    has_key = pl.any_horizontal([_kinds(name, of_id) > 0 for name in own] or [pl.lit(False)])
    no_field = pl.all_horizontal([_kinds(name, of_id) == 0 for name in _key_columns(rows)] or [pl.lit(True)])
    prompts = _kinds("prompt_fp", of_id)
    agree = (has_key & same_key) | (prompts == 1) | (no_field & (prompts == 0))
    return pl.when(of_id.is_not_null() & (places <= files) & agree).then(of_id)


def _kinds(name: str, over: pl.Expr) -> pl.Expr:
    return pl.col(name).drop_nulls().n_unique().over(over)


def _key_fp(rows: pl.DataFrame) -> pl.Series:
    """Fingerprint of the task's own fields; where the rollouts have any, those that only the inputs have are left out."""
    rollouts = kept(rows, pl.col("role") == "rollouts")
    source = rollouts if any(rollouts[name].count() for name in _key_columns(rollouts)) else rows
    own = _own_fields(source)
    settled = rows.select("role", *(_settled(name).alias(name) for name in own))
    return settled.with_columns(_fold(own).alias("key_fp"))["key_fp"]


def _key_columns(rows: pl.DataFrame) -> list[str]:
    return sorted(name for name in rows.columns if name.startswith(KEY))


def _own_fields(rows: pl.DataFrame) -> list[str]:
    """Fields that are the same in every repeat of most tasks that have repeats; one that changes is a result."""
    return [name for name in _key_columns(rows) if rows[name].count() and _is_own(rows, name)]


def _is_own(rows: pl.DataFrame, name: str) -> bool:
    known = rows.select("known", name).drop_nulls()
    kinds = known.group_by("known").agg(pl.col(name).n_unique().alias("kinds"), pl.len().alias("rows"))
    repeated = kinds.filter(pl.col("rows") > 1)
    return repeated.is_empty() or repeated.filter(pl.col("kinds") == 1).height >= MOSTLY * repeated.height


def _settled(name: str) -> pl.Expr:
    """The one value that the rows of a known task have; null where they differ. Rows of no known task keep their own."""
    of_task = pl.col(name).drop_nulls()
    shared = pl.when(of_task.n_unique().over("known") == 1).then(of_task.max().over("known"))
    return pl.when(pl.col("known").is_null()).then(pl.col(name)).otherwise(shared)


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
