"""Which rows are one run, and what runs are called.

Rows are of one run by agent, model and skills within a file; several files may be shards of one run. A run is called by the
user's word, else its model, else its folder, else its file's stem: unique, and safe as a file name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.ingest.artifacts import Bundle, stem_of
from blade.ingest.frames import is_constant, kept, looked_up
from blade.ingest.identity import identify
from blade.ingest.row_table import KEY

if TYPE_CHECKING:
    from blade.ingest.scan import RowTable

_DIGITS = re.compile(r"\d+")
_OWN = ("rollouts", "failures")

Maker = tuple[str | None, str | None, str | None]
"""Agent, model and skills."""


class RunGroup(Struct, frozen=True, kw_only=True):
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
        agent = pl.lit(self.agent, pl.String)
        same_agent = pl.col("agent").is_null() | agent.is_null() | (pl.col("agent") == agent)
        return _join_dataset(kept(rows, (pl.col("group") == self.number) | (inputs & same_agent)))

    def holds(self, agent: str | None, model: str | None, skills: str | None) -> bool:
        """Whether rows of that agent, model and skills are of this run; what a row does not say does not speak against."""
        pairs = ((agent, self.agent), (model, self.model), (skills, self.skills))
        return all(row is None or own is None or row == own for row, own in pairs)


def assign(
    rows: pl.DataFrame, bundles: Sequence[Bundle], table: RowTable, benchmarks: Sequence[str | None]
) -> tuple[list[RunGroup], pl.DataFrame]:
    """Groups in order of their files, and the rows with the number of the group that each belongs to."""
    makers = _makers(rows)
    numbers: dict[tuple[int, Maker], int] = {}
    groups: list[RunGroup] = []
    shards = _Shards(rows=rows, bundles=bundles, table=table, benchmarks=benchmarks, makers=makers)
    for bundle, maker in sorted(set(makers.values()), key=lambda key: (key[0], *(text or "" for text in key[1]))):
        host = next((group for group in groups if shards.hold(group, bundle, maker)), None)
        if host is None:
            agent, model, skills = maker
            name = bundles[bundle].name
            host = RunGroup(number=len(groups), bundles=(bundle,), agent=agent, model=model, skills=skills, name=name)
            groups.append(host)
        else:
            groups[host.number] = replace(host, bundles=(*host.bundles, bundle))
        numbers[bundle, maker] = host.number
    return groups, _numbered(rows, {combo: numbers[made] for combo, made in makers.items()})


Combo = tuple[int, str | None, str | None, str | None]
"""Bundle, agent, model and skills, as rows have them."""
_COMBO = ("bundle", "agent", "model", "skills")


def _makers(rows: pl.DataFrame) -> dict[Combo, tuple[int, Maker]]:
    """Each combination of bundle, agent, model and skills that rows have, and the run that it stands for."""
    own = kept(rows.select("role", *_COMBO), pl.col("role").is_in(_OWN))
    only = _only_combo(own)
    combos = own.select(_COMBO).unique().rows() if only is None else [only]
    return {combo: (combo[0], _completed(combo, combos)) for combo in combos}


def _only_combo(rows: pl.DataFrame) -> Combo | None:
    """The combination that all rows have, as in most files; None where there are several, or no rows."""
    if not all(is_constant(rows[name]) for name in _COMBO):
        return None
    bundle, agent, model, skills = rows.select(_COMBO).row(0)
    return bundle, agent, model, skills


def _completed(combo: Combo, combos: Sequence[Combo]) -> Maker:
    """What a row leaves out is filled in where the rest of its file says only one thing."""
    bundle, agent, model, skills = combo
    near = [other for other in combos if other[0] == bundle]
    agent = agent if agent is not None else _only(other[1] for other in near)
    near = [other for other in near if other[1] in (agent, None)]
    model = model if model is not None else _only(other[2] for other in near)
    near = [other for other in near if other[2] in (model, None)]
    return agent, model, skills if skills is not None else _only(other[3] for other in near)


def _only(values: Iterable[str | None]) -> str | None:
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None


class _Shards(Struct, frozen=True, kw_only=True):
    """Tells whether a file is another piece of a run: the same maker and tools, and no rollout in common."""

    rows: pl.DataFrame
    bundles: Sequence[Bundle]
    table: RowTable
    benchmarks: Sequence[str | None]
    makers: dict[Combo, tuple[int, Maker]]

    def hold(self, group: RunGroup, bundle: int, maker: Maker) -> bool:
        """Whether the rows of that maker in that file are of the run."""
        if maker != (group.agent, group.model, group.skills) or bundle in group.bundles:
            return False
        if self.bundles[bundle].name is not None or group.name is not None:
            return self.bundles[bundle].name == group.name
        first = group.bundles[0]
        # Without a maker's name: only names that differ in digits alone, in one folder.
        paths = self.bundles[first].path, self.bundles[bundle].path
        series = {(path.parent, _DIGITS.sub("#", stem_of(path))) for path in paths}
        if maker[0] is None and len(series) > 1:
            return False
        benchmarks = {self.benchmarks[first], self.benchmarks[bundle]} - {None}
        return (
            len(benchmarks) < 2 and self._tools(first) == self._tools(bundle) and self._disjoint(group, bundle, maker)
        )

    def _tools(self, bundle: int) -> list[str]:
        files = set(self.rows.filter(pl.col("bundle") == bundle)["file"].unique())
        mine = (setting for (file, setting) in self.table.settings if file in files)
        return sorted({value for setting in mine for name, value in setting.values if name == "tools"})

    def _disjoint(self, group: RunGroup, bundle: int, maker: Maker) -> bool:
        """Whether no rollout, by task or id and repeat, is in both; without repeats, whether no task is."""
        wanted = {(number, maker) for number in (*group.bundles, bundle)}
        combos = {combo: 0 for combo, made in self.makers.items() if made in wanted}
        both = identify(_numbered(self.rows, combos).filter((pl.col("group") == 0) & (pl.col("role") == "rollouts")))
        here, there = both.filter(pl.col("bundle") == bundle), both.filter(pl.col("bundle") != bundle)
        repeat = [] if both["repeat"].null_count() else ["repeat"]
        return all(here.join(there, on=[name, *repeat], how="semi").is_empty() for name in ("task_id", "id"))


def _numbered(rows: pl.DataFrame, numbers: dict[Combo, int]) -> pl.DataFrame:
    only = _only_combo(rows)
    if only is not None:
        number = pl.lit(numbers.get(only), pl.Int32)
        return rows.with_columns(pl.when(pl.col("role").is_in(_OWN)).then(number).alias("group"))
    mapping = pl.DataFrame(
        [(*combo, number) for combo, number in sorted(numbers.items(), key=str)],
        schema={"bundle": pl.Int32, "agent": pl.String, "model": pl.String, "skills": pl.String, "group": pl.Int32},
        orient="row",
    )
    numbered = rows.with_columns(looked_up(rows, mapping, *_COMBO))
    return numbered.with_columns(pl.when(pl.col("role").is_in(_OWN)).then(pl.col("group")).alias("group"))


def _join_dataset(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a dataset count where their prompt is that of no other of its rows; the run's rows take their keys from it."""
    dataset = rows.filter(pl.col("role") == "dataset")
    if dataset.is_empty():
        return rows
    own = rows.filter(pl.col("role") != "dataset")
    unique = dataset.filter(pl.col("prompt_fp").is_not_null() & (pl.len().over("prompt_fp") == 1))
    places = own.select("prompt_fp", pl.col("index").alias("at"), pl.col("id").alias("named")).unique()
    joined = unique.join(places.sort("prompt_fp", "at", "named"), on="prompt_fp", maintain_order="left_right")
    placed = joined.with_columns(index=pl.col("at"), id=pl.col("named")).select(own.columns)
    keys = [name for name in rows.columns if name.startswith(KEY)]
    filled = own.join(
        unique.select("prompt_fp", *keys), on="prompt_fp", how="left", suffix="_said", maintain_order="left"
    )
    filled = filled.with_columns(pl.coalesce(name, f"{name}_said").alias(name) for name in keys)
    return pl.concat([filled.select(own.columns), placed])


_SAFE = re.compile(r"[^A-Za-z0-9._-]")
LONGEST_NAME = 100
NAMELESS = "run"
"""The name of a run that nothing names."""


class Called(Struct, frozen=True, kw_only=True):
    """What a run could be called."""

    wanted: str
    tails: tuple[str, ...]
    """What may be added, in this order, where several runs want the same name."""


def unique_names(runs: Sequence[Called]) -> list[str]:
    """A name for each run, in their order; a tail is added only where it tells namesakes apart."""
    names = [safe_name(run.wanted) for run in runs]
    for place in range(max((len(run.tails) for run in runs), default=0)):
        tails = [run.tails[place] for run in runs]
        namesakes = {name: {tail for other, tail in zip(names, tails, strict=True) if other == name} for name in names}
        names = [
            safe_name(f"{name}-{tail}") if tail and len(namesakes[name]) > 1 else name
            for name, tail in zip(names, tails, strict=True)
        ]
    unique: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in unique or (number > 1 and candidate in names):
            number += 1
            candidate = f"{name}-{number}"
        unique.append(candidate)
    return unique


def safe_name(name: str) -> str:
    """Every character outside `[A-Za-z0-9._-]` replaced; never a hidden file, an option or an over-long name."""
    return _SAFE.sub("-", name).strip("-.")[-LONGEST_NAME:].strip("-.") or NAMELESS


def is_nameable(name: str) -> bool:
    """Whether anything is left of a name when it is made safe."""
    return bool(_SAFE.sub("-", name).strip("-."))
