"""Which rows are one run, and what runs are called.

Rows are of one run by agent, model and skills within a file; several files may be shards of one run. A run is called by the
user's word, else its model, else its folder, else its file's stem: unique, and safe as a file name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct, field
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
    shards = _Shards(rows, bundles, table, benchmarks, makers)
    numbers: dict[tuple[int, Maker], int] = {}
    members: list[list[int]] = []
    groups: list[RunGroup] = []
    for bundle, maker in sorted(set(makers.values()), key=lambda key: (key[0], *(text or "" for text in key[1]))):
        number = shards.host(bundle, maker)
        if number is None:
            number = shards.open(bundle, maker)
            agent, model, skills = maker
            name = bundles[bundle].name
            groups.append(RunGroup(number=number, bundles=(), agent=agent, model=model, skills=skills, name=name))
            members.append([])
        members[number].append(bundle)
        numbers[bundle, maker] = number
    groups = [replace(group, bundles=tuple(mine)) for group, mine in zip(groups, members, strict=True)]
    return groups, _numbered(rows, {combo: numbers[made] for combo, made in makers.items()})


Combo = tuple[int, str | None, str | None, str | None]
"""Bundle, agent, model and skills, as rows have them."""
_COMBO = ("bundle", "agent", "model", "skills")


def _makers(rows: pl.DataFrame) -> dict[Combo, tuple[int, Maker]]:
    """Each combination of bundle, agent, model and skills that rows have, and the run that it stands for."""
    own = kept(rows.select("role", *_COMBO), pl.col("role").is_in(_OWN))
    only = _only_combo(own)
    combos = own.select(_COMBO).unique().rows() if only is None else [only]
    of_bundle: dict[int, list[Combo]] = {}
    for combo in combos:
        of_bundle.setdefault(combo[0], []).append(combo)
    return {combo: (combo[0], _completed(combo, of_bundle[combo[0]])) for combo in combos}


def _only_combo(rows: pl.DataFrame) -> Combo | None:
    """The combination that all rows have, as in most files; None where there are several, or no rows."""
    if not all(is_constant(rows[name]) for name in _COMBO):
        return None
    bundle, agent, model, skills = rows.select(_COMBO).row(0)
    return bundle, agent, model, skills


def _completed(combo: Combo, near: Sequence[Combo]) -> Maker:
    """What a row leaves out is filled in where the rest of its file, which is `near`, says only one thing."""
    _, agent, model, skills = combo
    agent = agent if agent is not None else _only(other[1] for other in near)
    near = [other for other in near if other[1] in (agent, None)]
    model = model if model is not None else _only(other[2] for other in near)
    near = [other for other in near if other[2] in (model, None)]
    return agent, model, skills if skills is not None else _only(other[3] for other in near)


def _only(values: Iterable[str | None]) -> str | None:
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None


Kin = tuple[Maker, str | None, tuple[Path, str] | None, tuple[str, ...]]
"""What files of one run have in common: the maker, the user's name, the series of their names, and the tools."""


class _Group(Struct):
    """A run that is being put together."""

    benchmark: str | None
    counts_tasks: bool = False
    """Whether some of its rollouts have no repeat: then it may have each task once."""
    tasks: set[int] = field(default_factory=set)
    rollouts: set[int] = field(default_factory=set)
    """What several files have, by number: tasks or ids, and these with their repeats."""


class _Shards:
    """Tells whether a file is another piece of a run: the same maker and tools, and no rollout in common.

    What files have in common is worked out once for all files of a kin, so that time grows with their number.
    """

    def __init__(
        self,
        rows: pl.DataFrame,
        bundles: Sequence[Bundle],
        table: RowTable,
        benchmarks: Sequence[str | None],
        makers: Mapping[Combo, tuple[int, Maker]],
    ) -> None:
        self._rows, self._bundles, self._benchmarks, self._makers = rows, bundles, benchmarks, makers
        self._tools = _tools_of(rows, table)
        self._kins = {made: self._kin(*made) for made in dict.fromkeys(makers.values())}
        self._makers_of: dict[Kin, list[tuple[int, Maker]]] = {}
        for made, kin in self._kins.items():
            self._makers_of.setdefault(kin, []).append(made)
        self._files: dict[Kin, dict[int, _Group]] = {}
        self._groups: list[_Group] = []
        self._of_kin: dict[Kin, list[int]] = {}

    def host(self, bundle: int, maker: Maker) -> int | None:
        """The number of the run that the rows of that maker in that file are a piece of, which takes them; None for none."""
        kin, benchmark = self._kins[bundle, maker], self._benchmarks[bundle]
        for number in self._of_kin.get(kin, ()):
            group = self._groups[number]
            if self._bundles[bundle].name is not None:
                return number  # files under one name are one run by the user's word
            if len({group.benchmark, benchmark} - {None}) < 2 and _take_disjoint(group, self._of(kin)[bundle]):
                return number
        return None

    def open(self, bundle: int, maker: Maker) -> int:
        """The number of a new run of these rows."""
        kin, number = self._kins[bundle, maker], len(self._groups)
        group = _Group(benchmark=self._benchmarks[bundle])
        _take_disjoint(group, self._of(kin)[bundle])
        self._groups.append(group)
        self._of_kin.setdefault(kin, []).append(number)
        return number

    def _kin(self, bundle: int, maker: Maker) -> Kin:
        one = self._bundles[bundle]
        if one.name is not None:
            return maker, one.name, None, ()
        # Without a maker's name: only names that differ in digits alone, in one folder.
        series = (one.path.parent, _DIGITS.sub("#", stem_of(one.path))) if maker[0] is None else None
        return maker, None, series, self._tools.get(bundle, ())

    def _of(self, kin: Kin) -> dict[int, _Group]:
        """What each file of a kin has in common with others of it."""
        if kin not in self._files:
            made = frozenset(self._makers_of[kin])
            found = {bundle: _Group(benchmark=None) for bundle, _ in made}
            if len(made) > 1 and kin[1] is None:
                combos = {combo: 0 for combo, of in self._makers.items() if of in made}
                mine = _numbered(self._rows, combos).filter((pl.col("group") == 0) & (pl.col("role") == "rollouts"))
                _note_common(identify(mine), found)
            self._files[kin] = found
        return self._files[kin]


def _tools_of(rows: pl.DataFrame, table: RowTable) -> dict[int, tuple[str, ...]]:
    """The tools that the rows of each bundle offer."""
    owners = dict(rows.select("file", "bundle").unique().iter_rows())
    found: dict[int, set[str]] = {}
    for file, setting in table.settings:
        if file in owners:
            found.setdefault(owners[file], set()).update(value for name, value in setting.values if name == "tools")
    return {bundle: tuple(sorted(tools)) for bundle, tools in found.items()}


def _note_common(rows: pl.DataFrame, found: Mapping[int, _Group]) -> None:
    """Note in each file what others have too, by task or id, and by these and the repeat."""
    for name in ("task_id", "id"):
        for bundle, mark in _in_several(rows, name):
            found[bundle].tasks.add(mark)
        for bundle, mark in _in_several(rows, name, "repeat"):
            found[bundle].rollouts.add(mark)
    for bundle in rows.filter(pl.col("repeat").is_null())["bundle"].unique():
        found[bundle].counts_tasks = True


def _in_several(rows: pl.DataFrame, *key: str) -> Iterable[tuple[int, int]]:
    """Pairs of a file and a mark, which is the same for all that stands in the same several files."""
    seen = rows.select("bundle", *key).drop_nulls().unique()
    files = seen.group_by(key).agg(pl.len().alias("files"), pl.col("bundle").hash().sum().alias("mark"))
    return seen.join(files.filter(pl.col("files") > 1), on=key).select("bundle", "mark").unique().iter_rows()


def _take_disjoint(group: _Group, file: _Group) -> bool:
    """Add a file to a run, unless they have a rollout in common; where some have no repeat, unless they have a task."""
    by_task = group.counts_tasks or file.counts_tasks
    if not (group.tasks.isdisjoint(file.tasks) if by_task else group.rollouts.isdisjoint(file.rollouts)):
        return False
    group.tasks |= file.tasks
    group.rollouts |= file.rollouts
    group.counts_tasks = by_task
    return True


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
    """Rows of a dataset count where their prompt, or the id that rollouts have too, is that of no other of its rows.

    The run's rows take their keys from it.
    """
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
    return pl.concat([filled.select(own.columns), placed, _named_alike(dataset, own, placed)])


def _named_alike(dataset: pl.DataFrame, own: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Rows of a dataset that no prompt placed, and that have the id of a rollout and of no other of its rows."""
    rest = dataset.join(placed.select("file", "offset"), on=["file", "offset"], how="anti", maintain_order="left")
    unique = rest.filter(pl.col("id").is_not_null() & (pl.len().over("id") == 1))
    ids = own.select("id", pl.col("index").alias("at")).unique(subset="id", keep="first", maintain_order=True)
    named = unique.join(ids, on="id", maintain_order="left")
    return named.with_columns(index=pl.col("at")).select(own.columns)


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
