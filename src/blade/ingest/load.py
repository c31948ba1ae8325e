"""From paths to runs: find, scan once, tell runs and tasks apart, join the sidecars, build the tables."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from blade.core.errors import ArtifactError
from blade.core.finding import Look
from blade.core.rollout import Outcome, Problem
from blade.core.run import CHECKS, ROLLOUTS, TASKS, Artifact, Run, SchemaField, Stated
from blade.ingest import fields
from blade.ingest.artifacts import Bundle, Found, stem_of
from blade.ingest.formats import Facts
from blade.ingest.identity import identify, natural
from blade.ingest.join import Expected, Joined, expect, join, missing_rows
from blade.ingest.light import EXTRA, HIT
from blade.ingest.scan import Chunk, Options, Table, chunks, gather, scan, temporary_folder
from blade.ingest.sidecars import Sidecars, read_sidecars
from blade.ingest.slices import slice_columns
from blade.ingest.tell_apart import Group, assign

_SCANNED = ("rollouts", "failures", "inputs", "dataset")
_SAFE = re.compile(r"[^A-Za-z0-9._-]")
_AGENT = re.compile(r"^(?P<benchmark>.+?)(?:_benchmark)?_(?:simple_agent|gymnasium_agent|agent)$")
_DULL_FOLDERS = ("", ".", "data", "results", "outputs", "output", "rollouts", "runs", "tmp", "logs", "examples")
LONGEST_NAME = 100

DTYPES: dict[str, pl.DataType] = {
    "String": pl.String(),
    "Int32": pl.Int32(),
    "Int64": pl.Int64(),
    "UInt64": pl.UInt64(),
    "Float64": pl.Float64(),
    "Boolean": pl.Boolean(),
    "List(UInt16)": pl.List(pl.UInt16),
    "List(Struct)": pl.List(HIT),
    "List(String)": pl.List(pl.String),
}


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user asks of the reading."""

    format: str | None = None
    threshold: float = 1.0
    expect_tasks: int | None = None
    expect_repeats: int | None = None
    group: str | None = None
    trajectories: bool = True
    workers: int | None = None
    look: Look | None = None
    progress: Callable[[int, int], None] = lambda done, total: None


@dataclass(kw_only=True)
class _Files:
    """Every file of a scan: which bundle it belongs to and what it is."""

    bundles: tuple[Bundle, ...]
    paths: list[Path] = field(default_factory=list)
    shown: dict[int, str] = field(default_factory=dict)
    roles: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)


def load_runs(found: Found, wishes: Wishes) -> list[Run]:
    """The runs of what was found, in order of name; raises when no row of it is usable."""
    files, pieces = _plan(found)
    with temporary_folder() as folder:
        done = [0]

        def advance(piece: Chunk) -> None:
            done[0] += 1
            wishes.progress(done[0], len(pieces))

        options = Options(
            threshold=wishes.threshold,
            look=wishes.look if wishes.trajectories else None,
            trajectories=wishes.trajectories,
        )
        table = gather(scan(pieces, options, workers=wishes.workers, folder=Path(folder), progress=advance))
    if not any(table.counts.get(file) for file, role in enumerate(files.roles) if role in ("rollouts", "failures")):
        raise _nothing_usable(table)
    sidecars = [read_sidecars(bundle.sidecars, _shown_sidecars(bundle, files)) for bundle in files.bundles]
    rows = table.rows.with_columns(
        pl.col("file").replace_strict(range(len(files.owners)), files.owners, return_dtype=pl.Int32).alias("bundle")
    )
    groups, rows = assign(rows, files.bundles, table)
    facts = [_facts(bundle, sidecars[index]) for index, bundle in enumerate(files.bundles)]
    runs = [_run(group, rows, files, table, sidecars, facts, wishes, found.problems) for group in groups]
    return _named(runs, groups, files)


def _plan(found: Found) -> tuple[_Files, list[Chunk]]:
    files, pieces = _Files(bundles=found.bundles), []
    root = os.path.commonpath([str(b.path.resolve().parent) for b in found.bundles])
    for owner, bundle in enumerate(found.bundles):
        for role in _SCANNED:
            path = bundle.path if role == "rollouts" else bundle.sidecars.get(role)
            if path is None:
                continue
            number = len(files.paths)
            files.paths.append(path)
            files.shown[number] = Path(os.path.relpath(path.resolve(), root)).as_posix()
            files.roles.append(role)
            files.owners.append(owner)
            files.formats.append(bundle.format.name)
            pieces += chunks(number, path, files.shown[number], bundle.format, role)
    return files, pieces


def _shown_sidecars(bundle: Bundle, files: _Files) -> dict[str, str]:
    main = next(files.shown[n] for n, path in enumerate(files.paths) if path == bundle.path)
    return {role: (Path(main).parent / path.name).as_posix() for role, path in bundle.sidecars.items()}


def _nothing_usable(table: Table) -> ArtifactError:
    listed = "; ".join(f"{problem.source}: {problem.reason}" for problem in table.problems[:3])
    more = f" and {table.problem_count - 3} more" if table.problem_count > 3 else ""
    return ArtifactError(
        f"no row is a usable rollout: {listed}{more}",
        hint="each row needs a reward or score, or a response; see docs/artifacts.md",
    )


def _facts(bundle: Bundle, sidecars: Sidecars) -> Facts:
    """What is said of the run as a whole; the manifest first, then the config, then the file itself."""
    merged = Facts()
    for said in [*sidecars.facts, bundle.format.facts(bundle.path)]:
        merged = Facts(
            benchmark=merged.benchmark or said.benchmark,
            model=merged.model or said.model,
            agent=merged.agent or said.agent,
            settings={**said.settings, **merged.settings},
            expected=merged.expected or said.expected,
            recorded={**said.recorded, **merged.recorded},
            note=merged.note or said.note,
        )
    return merged


def _run(
    group: Group,
    rows: pl.DataFrame,
    files: _Files,
    table: Table,
    sidecars: Sequence[Sidecars],
    facts: Sequence[Facts],
    wishes: Wishes,
    found_problems: tuple[Problem, ...],
) -> Run:
    mine = identify(group.select(rows))
    joined = join(mine, files.shown)
    inputs = mine.filter(pl.col("role") == "inputs")
    said = [facts[bundle] for bundle in group.bundles]
    stated_expected = next(((f, fact) for f, fact in (("manifest or log", s) for s in said) if fact.expected), None)
    expected = expect(
        joined.rollouts,
        inputs,
        (stated_expected[0], stated_expected[1].expected or {}) if stated_expected else None,
        tasks=wishes.expect_tasks,
        repeats=wishes.expect_repeats,
    )
    missing = missing_rows(joined.rollouts, inputs, expected)
    rollouts = pl.concat([joined.rollouts, missing], how="diagonal_relaxed")
    tasks = _tasks(mine, rollouts, expected, wishes.group)
    order = _order(rollouts)
    problems = _problems(table, files, group, joined, sidecars, found_problems)
    return Run(
        name=group.name or "",
        benchmark=_benchmark(group, said, files),
        model=group.model or next((fact.model for fact in said if fact.model), None),
        agent=group.agent,
        settings=_settings(group, files, table, said),
        rollouts=_ordered(_conform(rollouts.with_columns(_artifact(files)), ROLLOUTS), order),
        tasks=_ordered(tasks, order),
        checks=_checks(joined.rollouts, order),
        tools=table.tools,
        problems=tuple(problems),
        problem_count=table.problem_count + len(problems) - len(table.problems),
        artifacts=_artifacts(group, files, table, facts),
        schema=_schema(group, files, table),
        pass_threshold=wishes.threshold,
        expected_from=expected.source,
        expected_why_not=expected.reason,
        stated=_stated(group, sidecars, said),
        duplicates=joined.duplicates,
        notes=tuple(_notes(mine, joined, expected, tasks)),
        roots={files.shown[n]: str(path.resolve()) for n, path in enumerate(files.paths)},
    )


def _artifact(files: _Files) -> pl.Expr:
    return (
        pl.col("file")
        .replace_strict(list(files.shown), list(files.shown.values()), return_dtype=pl.String, default=None)
        .alias("artifact")
    )


def _conform(frame: pl.DataFrame, schema: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    """Exactly the columns of the schema, in its order; what is absent is null."""
    have = set(frame.columns)
    return frame.select(
        (pl.col(name) if name in have else pl.lit(None)).cast(DTYPES[dtype]).alias(name)
        for name, (dtype, _) in schema.items()
    )


def _order(rollouts: pl.DataFrame) -> pl.DataFrame:
    ids = sorted(rollouts["task_id"].unique().to_list(), key=natural)
    return pl.DataFrame({"task_id": ids, "place": range(len(ids))}, schema={"task_id": pl.String, "place": pl.Int64})


def _ordered(frame: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    keys = ["place", "repeat"] if "repeat" in frame.columns else ["place"]
    return frame.join(order, on="task_id", how="left").sort(keys).drop("place")


def _tasks(mine: pl.DataFrame, rollouts: pl.DataFrame, expected: Expected, group: str | None) -> pl.DataFrame:
    own = mine.filter(pl.col("role") != "dataset")
    about = own.group_by("task_id").agg(
        pl.col("index").min(),
        pl.col("id_kind").first(),
        pl.col("id_mark").first(),
        *(pl.col(name).drop_nulls().first() for name in ("key_fp", "prompt_fp")),
    )
    keys = mine.group_by("task_id").agg(pl.col(name).drop_nulls().first() for name in ("expected", "key_expects"))
    scores = task_scores(rollouts)
    tasks = scores.select("task_id").join(about, on="task_id", how="left").join(keys, on="task_id", how="left")
    counts = pl.DataFrame(
        {"task_id": list(expected.repeats), "repeats_expected": list(expected.repeats.values())},
        schema={"task_id": pl.String, "repeats_expected": pl.Int32},
    )
    if expected.source is not None:
        unnamed = rollouts.filter(
            pl.col("task_id").str.starts_with("missing-") & ~pl.col("task_id").is_in(counts["task_id"].implode())
        )
        extra = unnamed.group_by("task_id").agg(pl.len().cast(pl.Int32).alias("repeats_expected"))
        counts = pl.concat([counts, extra])
    tasks = tasks.join(counts, on="task_id", how="left")
    tasks = tasks.with_columns(_group_column(mine, tasks, group))
    slices = slice_columns(mine.filter(pl.col("task_id").is_in(tasks["task_id"].implode())), scores)
    return _conform(tasks, TASKS).join(slices, on="task_id", how="left")


def _group_column(mine: pl.DataFrame, tasks: pl.DataFrame, group: str | None) -> pl.Series:
    name = EXTRA + (group or "")
    if group is None or name not in mine.columns:
        return pl.Series("group", [None] * tasks.height, pl.String)
    values = dict(mine.group_by("task_id").agg(pl.col(name).drop_nulls().min()).iter_rows())
    return pl.Series("group", [values.get(task) for task in tasks["task_id"]], pl.String)


def task_scores(rollouts: pl.DataFrame) -> pl.DataFrame:
    """`task_id` and its share of passes among judged rollouts, null when none was judged; sorted by id."""
    judged = pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)])
    passed = pl.col("outcome") == str(Outcome.PASSED)
    share = pl.when(judged.sum() > 0).then(passed.sum() / judged.sum())
    return rollouts.group_by("task_id").agg(share.alias("score")).sort("task_id")


def _checks(rollouts: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    if "checks" not in rollouts.columns:
        return _conform(pl.DataFrame(schema={"task_id": pl.String}), CHECKS)
    long = rollouts.select("task_id", "repeat", "checks").drop_nulls("checks").explode("checks").unnest("checks")
    place = long.with_columns(pl.int_range(pl.len()).alias("nth")).join(order, on="task_id", how="left")
    return _conform(place.sort("place", "repeat", "nth"), CHECKS)


def _benchmark(group: Group, said: Sequence[Facts], files: _Files) -> str | None:
    named = next((fact.benchmark for fact in said if fact.benchmark), None)
    agent = _AGENT.match(group.agent or "")
    folder = files.bundles[group.bundles[0]].folder
    return named or (agent["benchmark"] if agent else None) or (folder if folder.lower() not in _DULL_FOLDERS else None)


def _settings(group: Group, files: _Files, table: Table, said: Sequence[Facts]) -> dict[str, str]:
    counts: dict[str, dict[str, int]] = {}
    for (file, setting), count in table.settings.items():
        if files.owners[file] in group.bundles and group.holds(setting.agent, setting.model, setting.skills):
            for name, value in setting.values:
                counts.setdefault(name, {})[value] = counts.setdefault(name, {}).get(value, 0) + count
    merged = {name: value for fact in reversed(said) for name, value in fact.settings.items()}
    for name in sorted(counts):
        values = sorted(counts[name].items(), key=lambda item: (-item[1], item[0]))
        merged[name] = (
            values[0][0] if len(values) == 1 else "several: " + ", ".join(f"{v} ({n} rollouts)" for v, n in values[:4])
        )
    if group.skills:
        merged["skills"] = group.skills
    return dict(sorted(merged.items()))


def _problems(
    table: Table, files: _Files, group: Group, joined: Joined, sidecars: Sequence[Sidecars], found: tuple[Problem, ...]
) -> list[Problem]:
    mine = {files.shown[n] for n, owner in enumerate(files.owners) if owner in group.bundles}
    rows = [problem for problem in table.problems if problem.source.artifact in mine]
    return [*found, *rows, *joined.problems, *(p for bundle in group.bundles for p in sidecars[bundle].problems)]


def _artifacts(group: Group, files: _Files, table: Table, facts: Sequence[Facts]) -> tuple[Artifact, ...]:
    listed = []
    for number, path in enumerate(files.paths):
        owner = files.owners[number]
        if owner in group.bundles:
            role = files.roles[number]
            note = facts[owner].note if role == "rollouts" else ""
            listed.append(
                Artifact(
                    path=files.shown[number],
                    role=role,
                    format=files.formats[number],
                    rows=table.counts.get(number, 0),
                    bytes=path.stat().st_size,
                    note=note,
                )
            )
    for owner in group.bundles:
        shown = _shown_sidecars(files.bundles[owner], files)
        for role, path in sorted(files.bundles[owner].sidecars.items()):
            if role not in _SCANNED:
                listed.append(
                    Artifact(path=shown[role], role=role, format=path.suffix.lstrip("."), bytes=path.stat().st_size)
                )
    return tuple(listed)


def _schema(group: Group, files: _Files, table: Table) -> tuple[SchemaField, ...]:
    counts: dict[str, int] = {}
    total = 0
    for number, role in enumerate(files.roles):
        if files.owners[number] in group.bundles and role == "rollouts":
            total += table.counts.get(number, 0)
            for name, count in table.seen.get(number, {}).items():
                counts[name] = counts.get(name, 0) + count
    small = {name.removeprefix(EXTRA) for name in table.rows.columns if name.startswith(EXTRA)}
    return tuple(
        SchemaField(path=name, seen=counts[name], rows=total, taken_as=_taken(name, small)) for name in sorted(counts)
    )


def _taken(name: str, small: set[str]) -> str:
    direct = fields.taken_as(name)
    below = ", ".join(
        f"{path.removeprefix(name + '.')} as {field.name}"
        for field in fields.TABLE
        for path in field.paths
        if path.startswith(name + ".")
    )
    candidate = "slice candidate" if name in small else ""
    return "; ".join(filter(None, (direct, below, candidate)))


def _stated(group: Group, sidecars: Sequence[Sidecars], said: Sequence[Facts]) -> tuple[Stated, ...]:
    found: list[Stated] = []
    for bundle in group.bundles:
        by_agent = sidecars[bundle].stated
        mine = by_agent.get(group.agent) or (next(iter(by_agent.values())) if len(by_agent) == 1 else [])
        found += [
            *mine,
            *(
                by_agent.get(None, [])
                if group.agent is not None and None in by_agent and mine is not by_agent[None]
                else []
            ),
        ]
    for fact in said:
        found += [Stated(name=name, value=value, source="log") for name, value in fact.recorded.items()]
    return tuple(found)


def _notes(mine: pl.DataFrame, joined: Joined, expected: Expected, tasks: pl.DataFrame) -> list[str]:
    kinds = tasks.filter(pl.col("id_kind").is_not_null()).group_by("id_kind").len().sort("id_kind")
    known = ", ".join(f"{kind} ({count})" for kind, count in kinds.iter_rows())
    notes = [f"tasks are known by: {known}", *expected.notes]
    twins = (
        tasks.drop_nulls(["key_fp", "prompt_fp"])
        .group_by("key_fp", "prompt_fp")
        .agg("task_id")
        .filter(pl.col("task_id").list.len() > 1)
    )
    if twins.height:
        examples = sorted(" = ".join(sorted(ids, key=natural)[:3]) for ids in twins["task_id"].to_list())
        notes.append(
            f"{twins.height} groups of tasks have the same key and prompt (duplicate tasks): {'; '.join(examples[:3])}"
        )
    if joined.attempts:
        notes.append(f"{joined.attempts} failed attempts belong to rollouts that were finished later, or tried again")
    return notes


def _named(runs: list[Run], groups: Sequence[Group], files: _Files) -> list[Run]:
    """Runs with unique, file-safe names: the user's, else model, else folder, else stem."""
    bundles = [files.bundles[group.bundles[0]] for group in groups]
    wanted = [
        group.name or run.model or _folder(b) or stem_of(b.path)
        for run, group, b in zip(runs, groups, bundles, strict=True)
    ]
    more = [
        lambda i: groups[i].agent or "",
        lambda i: bundles[i].folder,
        lambda i: stem_of(bundles[i].path),
        lambda i: groups[i].skills or "",
    ]
    names = [safe_name(name) for name in wanted]
    for extra in more:
        clashing = {name for name in names if names.count(name) > 1}
        tails = {name: {extra(i) for i, other in enumerate(names) if other == name} for name in clashing}
        names = [
            safe_name(f"{name}-{extra(i)}") if name in clashing and len(tails[name]) > 1 and extra(i) else name
            for i, name in enumerate(names)
        ]
    return sorted(
        (_renamed(run, name) for run, name in zip(runs, _numbered(names), strict=True)),
        key=lambda run: natural(run.name),
    )


def _folder(bundle: Bundle) -> str | None:
    return bundle.folder if bundle.folder.lower() not in _DULL_FOLDERS else None


def _numbered(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return unique


def safe_name(name: str) -> str:
    """Every character outside `[A-Za-z0-9._-]` replaced; never a hidden file, an option or an over-long name."""
    return _SAFE.sub("-", name).strip("-.")[-LONGEST_NAME:].strip("-.") or "run"


def _renamed(run: Run, name: str) -> Run:
    def stamp(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.lit(name).alias("run"))

    return replace(run, name=name, rollouts=stamp(run.rollouts), tasks=stamp(run.tasks), checks=stamp(run.checks))
