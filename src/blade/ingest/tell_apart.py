"""Which rows are one run: by agent, model and skills within a file, and which files are shards of one run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from blade.ingest.artifacts import Bundle, stem_of
from blade.ingest.light import KEY
from blade.ingest.scan import Table

_DIGITS = re.compile(r"\d+")
_OWN = ("rollouts", "failures")


@dataclass(frozen=True, kw_only=True)
class Group:
    """The rows of one run."""

    number: int
    bundles: tuple[int, ...]
    agent: str | None
    model: str | None
    skills: str | None
    name: str | None
    """The name that the user gave."""

    def select(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The run's own rows, and the inputs of its files that are of its agent."""
        inputs = pl.col("role").is_in(["inputs", "dataset"]) & pl.col("bundle").is_in(list(self.bundles))
        same_agent = (
            pl.col("agent").is_null() | pl.lit(self.agent is None) | (pl.col("agent") == pl.lit(self.agent or ""))
        )
        chosen = rows.filter((pl.col("group") == self.number) | (inputs & same_agent))
        return _join_dataset(chosen)

    def holds(self, agent: str | None, model: str | None, skills: str | None) -> bool:
        """Whether rows of that agent, model and skills are of this run; what a row does not say does not speak against."""
        pairs = ((agent, self.agent), (model, self.model), (skills, self.skills))
        return all(row is None or own is None or row == own for row, own in pairs)


def assign(rows: pl.DataFrame, bundles: Sequence[Bundle], table: Table) -> tuple[list[Group], pl.DataFrame]:
    """Groups in order of their files, and the rows with the number of the group that each belongs to."""
    kinds = _kinds(rows)
    keys = sorted(set(kinds.values()), key=lambda key: (key[0], key[1] or "", key[2] or "", key[3] or ""))
    marks = _marks(rows)
    files_of = {key[0]: frozenset(rows.filter(pl.col("bundle") == key[0])["file"].unique()) for key in keys}
    groups: list[Group] = []
    numbers: dict[tuple[int, str | None, str | None, str | None], int] = {}
    for bundle, agent, model, skills in keys:
        name = bundles[bundle].name
        host = next(
            (g for g in groups if _is_shard(g, bundle, agent, model, skills, bundles, table, marks, files_of)), None
        )
        if host is None:
            host = Group(number=len(groups), bundles=(bundle,), agent=agent, model=model, skills=skills, name=name)
            groups.append(host)
        else:
            grown = Group(
                number=host.number,
                bundles=(*host.bundles, bundle),
                agent=agent,
                model=model,
                skills=skills,
                name=host.name,
            )
            groups[host.number] = grown
        numbers[bundle, agent, model, skills] = host.number
    return groups, _numbered(rows, kinds, numbers)


Kind = tuple[int, str | None, str | None, str | None]


def _kinds(rows: pl.DataFrame) -> dict[tuple[object, ...], Kind]:
    """Each combination of bundle, agent, model and skills that rows have, and the run key it stands for."""
    own = rows.filter(pl.col("role").is_in(_OWN))
    combos = own.select("bundle", "agent", "model", "skills").unique().rows()
    return {combo: _completed(combo, combos) for combo in combos}


def _completed(combo: tuple[object, ...], combos: Sequence[tuple[object, ...]]) -> Kind:
    """What a row leaves out is filled in where the rest of its file says only one thing."""
    bundle, agent, model, skills = combo
    near = [other for other in combos if other[0] == bundle]
    agent = agent if agent is not None else _only({other[1] for other in near})
    same = [other for other in near if other[1] == agent or other[1] is None]
    model = model if model is not None else _only({other[2] for other in same})
    skills = (
        skills if skills is not None else _only({other[3] for other in same if other[2] == model or other[2] is None})
    )
    return (int(str(bundle)), _text(agent), _text(model), _text(skills))


def _only(values: set[object]) -> object:
    known = [value for value in values if value is not None]
    return known[0] if len(known) == 1 else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _marks(rows: pl.DataFrame) -> pl.DataFrame:
    """A rough mark of each row's task, good enough to see whether two files hold the same tasks."""
    names = sorted(name for name in rows.columns if name.startswith(KEY))
    parts = [pl.col(name).fill_null(0).cast(pl.String) for name in names]
    key = pl.concat_str(parts, separator=":") if parts else pl.lit("")
    some = pl.any_horizontal([pl.col(name).is_not_null() for name in names]) if names else pl.lit(False)
    mark = pl.when(some).then(key).otherwise(pl.coalesce(pl.col("prompt_fp").cast(pl.String), pl.col("id"), pl.lit("")))
    return rows.filter(pl.col("role") == "rollouts").select("bundle", "repeat", mark.alias("mark"))


def _is_shard(
    group: Group,
    bundle: int,
    agent: str | None,
    model: str | None,
    skills: str | None,
    bundles: Sequence[Bundle],
    table: Table,
    marks: pl.DataFrame,
    files_of: Mapping[int, frozenset[int]],
) -> bool:
    """Another piece of the same run: the same agent, model, skills and tools, and no rollout in common."""
    if (agent, model, skills) != (group.agent, group.model, group.skills) or bundle in group.bundles:
        return False
    if bundles[bundle].name is not None or group.name is not None:
        return bundles[bundle].name == group.name
    first = bundles[group.bundles[0]]
    if agent is None and not _same_series(first, bundles[bundle]):
        return False
    same_tools = _tools(table, files_of[group.bundles[0]]) == _tools(table, files_of[bundle])
    return same_tools and _disjoint(marks, group.bundles, bundle)


def _same_series(first: Bundle, second: Bundle) -> bool:
    """Names that differ in digits only, in one folder."""
    stems = [_DIGITS.sub("#", stem_of(bundle.path)) for bundle in (first, second)]
    return stems[0] == stems[1] and first.path.parent == second.path.parent


def _tools(table: Table, files: frozenset[int]) -> list[str]:
    mine = (setting for (file, setting) in table.settings if file in files)
    return sorted({value for setting in mine for name, value in setting.values if name == "tools"})


def _disjoint(marks: pl.DataFrame, hosts: tuple[int, ...], bundle: int) -> bool:
    here = marks.filter(pl.col("bundle") == bundle)
    there = marks.filter(pl.col("bundle").is_in(list(hosts)))
    stamped = here["repeat"].null_count() == 0 and there["repeat"].null_count() == 0
    return here.join(there, on=["mark", "repeat"] if stamped else ["mark"], how="semi").is_empty()


def _numbered(rows: pl.DataFrame, kinds: dict[tuple[object, ...], Kind], numbers: dict[Kind, int]) -> pl.DataFrame:
    mapping = pl.DataFrame(
        [(*combo, numbers[kind]) for combo, kind in sorted(kinds.items(), key=str)],
        schema={"bundle": pl.Int32, "agent": pl.String, "model": pl.String, "skills": pl.String, "group": pl.Int32},
        orient="row",
    )
    joined = rows.join(
        mapping, on=["bundle", "agent", "model", "skills"], how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.with_columns(pl.when(pl.col("role").is_in(_OWN)).then(pl.col("group")).alias("group"))


def _join_dataset(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a dataset count only where their prompt is that of exactly one of its rows; they take the rollouts' position."""
    dataset = rows.filter(pl.col("role") == "dataset")
    if dataset.is_empty():
        return rows
    own = rows.filter(pl.col("role") != "dataset")
    unique = dataset.filter(pl.col("prompt_fp").is_not_null() & (pl.len().over("prompt_fp") == 1))
    places = own.select("prompt_fp", pl.col("index").alias("at"), pl.col("id").alias("named")).unique(
        "prompt_fp", keep="first", maintain_order=True
    )
    joined = unique.join(places, on="prompt_fp", how="inner", maintain_order="left")
    placed = joined.with_columns(index=pl.col("at"), id=pl.col("named")).drop("at", "named")
    return pl.concat([own, placed.select(own.columns)])
