"""From paths to runs: find, scan once, tell runs and tasks apart, join the sidecars, build the tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from msgspec import Struct, structs
from msgspec.structs import replace

from blade.ingest import run_details as about
from blade.ingest import tables
from blade.ingest.artifacts import Bundle, Files, Found, files_of, read_head, stem_of
from blade.ingest.fields import BY_NAME
from blade.ingest.formats import RunFacts, format_named
from blade.ingest.frames import in_natural_order, natural
from blade.ingest.identity import identify
from blade.ingest.join import JOINED, expect, join, missing_rows
from blade.ingest.jsonl import Torn
from blade.ingest.mapping import guesses, looks_scored, mapping_to_try
from blade.ingest.reread import reread
from blade.ingest.roles.learn import learn_roles
from blade.ingest.roles.sample import sample_rows, with_tasks
from blade.ingest.row_table import EXTRA
from blade.ingest.runs import NAMELESS, Called, RunGroup, assign, is_nameable, unique_names
from blade.ingest.saved import load_saved
from blade.ingest.scan import RowTable, ScanSettings, chunks, gather, scan, scan_chunk
from blade.ingest.sidecars import Sidecars, read_sidecars
from blade.ingest.slices import constants, label
from blade.model.errors import ArtifactError, RequestError
from blade.model.finding import Detect
from blade.model.limits import DEFAULT_LIMITS, ReadLimits, using_limits
from blade.model.options import Options
from blade.model.roles import NO_ROLES, Roles
from blade.model.rollout import PASS_TOLERANCE, Outcome, Problem, RowSource
from blade.model.run import ROLLOUTS, Run

FEW_ROWS = 20
"""Rows below which a file alone says too little of what its fields mean."""
MOST_FILES = 100
"""Files of one kind in a folder that are learned from: thousands of shards are alike, and each costs an opening."""
MOST_NAMED = 3
"""Problems told in an error message."""
_FAR = 1 << 20
"""Bytes in which a first usable row is looked for where the first line is none."""
_OF_TASKS = (
    *("task_id", "role", "agent", "repeat", "index", "file", "offset", "expected", "key_expects"),
    *("id_kind", "id_mark", "key_fp", "prompt_fp"),
)
"""The columns of rows that the table of tasks is made from; fields with small values come on top."""
_OF_ROLLOUTS = frozenset((*ROLLOUTS, "file", "checks"))
"""The columns of rows that the other tables are made from."""


class _Scan(Struct, frozen=True, kw_only=True):
    """Everything that was read, before it is told apart into runs."""

    files: Files
    table: RowTable
    sidecars: Sequence[Sidecars]
    facts: Sequence[RunFacts]
    """By bundle: the manifest is believed first, then the config, then the file itself."""
    roles: Sequence[Roles]
    """By bundle."""


def first_benchmark(found: Found, limits: ReadLimits = DEFAULT_LIMITS) -> str | None:
    """The benchmark of the first file by its first row and its sidecars, before all is read; other rows may tell another."""
    bundle = next(iter(found.bundles), None)
    if bundle is None or not bundle.format.splittable:
        return None
    files = files_of(found)
    for end in (1, _FAR):
        piece = structs.replace(chunks(files)[0], end=end)
        rows = gather([scan_chunk(piece, ScanSettings(trajectories=False, limits=limits))]).rows
        if rows.height:
            break
    beside = read_sidecars(bundle.sidecars, {role: files.shown(path) for role, path in bundle.sidecars.items()})
    with using_limits(limits):
        said = about.merged_facts([*beside.facts, _facts_of(bundle)])
    agent = next(iter(rows["agent"]), None)
    group = RunGroup(number=0, bundles=(0,), agent=agent, model=None, skills=None, name=bundle.name)
    return about.benchmark_of(group, [said], files)


def load_found(found: Found, options: Options, detect: Detect | None) -> tuple[Run, ...]:
    """Runs of earlier analyses, then runs that are read now, in which `look` looks at every rollout."""
    book = options.rule_book
    saved = [_with_threshold(load_saved(folder, name), options.threshold) for name, folder in found.analyses]
    if any(book is not None and run.rule_book_name != book.named for run in saved):
        hint = "give the rollouts themselves"
        raise RequestError("an earlier analysis cannot be read under another package", hint=hint)
    if saved and options.needs_rows:
        hint = "give the rollouts themselves, or analyze the folder without those options"
        raise RequestError("an earlier analysis cannot be read with other expectations, groups or formats", hint=hint)
    fresh = _load_bundles(found, options, detect) if found.bundles else []
    named = book.named if book is not None else None
    fresh = [replace(run, rule_book_name=named, rule_book=book, field_map=options.mapping) for run in fresh]
    return tuple(replace(run, read=reread) for run in (*saved, *fresh))


def _with_threshold(run: Run, threshold: float | None) -> Run:
    """A saved run under another threshold: what was judged is judged again by its reward."""
    if threshold is None or threshold == run.pass_threshold:
        return run
    judged = pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)])
    again = (
        pl.when(pl.col("reward") >= threshold - PASS_TOLERANCE)
        .then(pl.lit(str(Outcome.PASSED)))
        .otherwise(pl.lit(str(Outcome.FAILED)))
    )
    rows = run.rollouts.with_columns(pl.when(judged).then(again).otherwise(pl.col("outcome")).alias("outcome"))
    return replace(run, rollouts=rows, pass_threshold=threshold)


def _load_bundles(found: Found, options: Options, detect: Detect | None) -> list[Run]:
    """The runs of the files that were found, in order of name; raises when no row of them is usable."""
    read = _read(found, options, detect)
    owners = read.files.owners
    bundle = pl.col("file").replace_strict(range(len(owners)), owners, return_dtype=pl.Int32).alias("bundle")
    book = options.rule_book
    rows = _with_id(read.table.rows.with_columns(bundle), book.task_id if book is not None else None)
    groups, rows = assign(rows, found.bundles, read.table, [fact.benchmark for fact in read.facts])
    unit = options.unit
    if unit is not None and EXTRA + unit not in rows.columns:
        raise _no_such_field(unit, "group by", rows)
    # From here on each run has its own rows: all of them would be held twice.
    read = structs.replace(read, table=structs.replace(read.table, rows=read.table.rows.clear()))
    own = [identify(group.select(rows)) for group in groups]
    del rows
    mine = [in_natural_order(_narrow(frame)) for frame in own]
    own = [frame.select(name for name in frame.columns if name in _OF_ROLLOUTS) for frame in own]
    runs = [_run(number, groups, mine, own.pop(0), read, options) for number in range(len(groups))]
    named = _named(runs, groups, read.files)
    return [_with_problems(run, found, read.files, options) for run in named]


def _with_problems(run: Run, found: Found, files: Files, options: Options) -> Run:
    """The run with the problems of files that gave no run; first that it has no score, where a field looks like one."""
    unjudged = _unjudged(run, files, options)
    problems = (*(unjudged[:1] if unjudged is not None else ()), *found.problems)
    return replace(
        run,
        problems=(*problems, *run.problems),
        problem_count=run.problem_count + len(problems),
        surprises=(*(unjudged[1:] if unjudged is not None else ()), *run.surprises),
    )


def _narrow(rows: pl.DataFrame) -> pl.DataFrame:
    """What tasks are made from, and what decides which rows are rollouts, with each row's `place`."""
    extras = (name for name in rows.columns if name.startswith(EXTRA))
    return rows.select(*dict.fromkeys((*_OF_TASKS, *JOINED, *extras))).with_row_index("place")


def _read(found: Found, options: Options, detect: Detect | None) -> _Scan:
    files = files_of(found)
    settings = ScanSettings(
        threshold=_pass_threshold(options),
        detect=detect,
        trajectories=not options.metrics_only,
        tools=options.tools,
        field_map=options.mapping,
        limits=options.limits,
    )
    with using_limits(options.limits):
        roles = _roles(found.bundles, options)
    table = scan(chunks(files, roles), settings, workers=options.workers, pool=options.pool, progress=options.progress)
    if not any(table.counts.get(number) for number, role in enumerate(files.roles) if role in ("rollouts", "failures")):
        raise _nothing_usable(table)
    with using_limits(options.limits):
        sidecars = [
            read_sidecars(bundle.sidecars, {role: files.shown(path) for role, path in bundle.sidecars.items()})
            for bundle in found.bundles
        ]
        facts = [
            about.merged_facts([*beside.facts, _facts_of(bundle)])
            for bundle, beside in zip(found.bundles, sidecars, strict=True)
        ]
    return _Scan(files=files, table=table, sidecars=sidecars, facts=facts, roles=roles)


def _roles(bundles: Sequence[Bundle], options: Options) -> list[Roles]:
    """The roles of each bundle; small files of one folder whose rows begin alike are learned from together."""
    found = [NO_ROLES] * len(bundles)
    folders: dict[tuple[object, ...], list[int]] = {}
    for number, bundle in enumerate(bundles):
        folders.setdefault((bundle.path.parent, bundle.format.name, bundle.path.suffix), []).append(number)
    for numbers in folders.values():
        small: dict[frozenset[str], tuple[list[int], list[dict[str, Any]]]] = {}
        for number in numbers[:MOST_FILES]:
            rows = sample_rows(bundles[number].path, bundles[number].format, options.mapping)
            if "dataset" in bundles[number].sidecars:
                rows = with_tasks(rows, sample_rows(bundles[number].sidecars["dataset"], bundles[number].format))
            if len(rows) >= FEW_ROWS:
                found[number] = learn_roles(rows)
            elif rows:
                alike, together = small.setdefault(frozenset(rows[0]), ([], []))
                alike.append(number)
                together.extend(rows)
        for alike, together in small.values():
            learned = learn_roles(together)
            for number in alike:
                found[number] = learned
        for number in numbers[MOST_FILES:]:
            found[number] = found[numbers[0]]
    return found


def _facts_of(bundle: Bundle) -> RunFacts:
    """What a file says about its run; nothing where it cannot be read any more, which its rows report."""
    try:
        return bundle.format.facts(bundle.path)
    except (OSError, Torn):
        return RunFacts()


def _pass_threshold(options: Options) -> float:
    return 1.0 if options.threshold is None else options.threshold


def _nothing_usable(table: RowTable) -> ArtifactError:
    problems = [problem for listed in table.problems.values() for problem in listed]
    listed = "; ".join(f"{problem.source}: {problem.reason}" for problem in problems[:MOST_NAMED])
    total = sum(table.problem_counts.values())
    more = f" and {total - MOST_NAMED} more" if total > MOST_NAMED else ""
    hint = "each row needs a reward or score, or a response; see docs/formats.md"
    return ArtifactError(f"no row is a usable rollout: {listed or 'the files hold none'}{more}", hint=hint)


def _with_id(rows: pl.DataFrame, field: str | None) -> pl.DataFrame:
    """The rows under the ids that the field gives, where a package names one."""
    if field is None or field in BY_NAME["id"].paths:
        return rows
    column = EXTRA + field
    if column not in rows.columns:
        raise _no_such_field(field, "know tasks by", rows)
    names = {text: label(json.loads(text)) for text in rows[column].drop_nulls().unique()}
    given = pl.col(column).replace_strict(names, default=None, return_dtype=pl.String)
    return rows.with_columns(given.fill_null(pl.col("id")).alias("id"))


def _no_such_field(field: str, use: str, rows: pl.DataFrame) -> RequestError:
    known = sorted(name.removeprefix(EXTRA) for name in rows.columns if name.startswith(EXTRA))
    hint = f"fields with small values are: {', '.join(known[:12])}" if known else "no field has small values"
    return RequestError(f"no row has a field {field!r} to {use}", hint=hint)


def _run(
    number: int,
    groups: Sequence[RunGroup],
    narrow: Sequence[pl.DataFrame],
    rows: pl.DataFrame,
    read: _Scan,
    options: Options,
) -> Run:
    """The run of a group; `narrow` are the rows of each group in natural order, `rows` its own, which are emptied."""
    group, mine, files = groups[number], narrow[number], read.files
    joined = join(mine, files.names)
    inputs = mine.filter(pl.col("role") == "inputs")
    agents = inputs["agent"].drop_nulls().unique().to_list()
    said = [read.facts[bundle] for bundle in group.bundles]
    stated = about.stated_repeats(said)
    expected = expect(
        joined.rollouts,
        inputs,
        stated,
        absent=about.absent_repeats(said),
        tasks=options.expect_tasks,
        repeats=options.expect_repeats,
    )
    missing = missing_rows(joined.rollouts, inputs, expected)
    checks = tables.check_table(rows, joined.rollouts, read.table.check_names)
    rollouts = tables.rollout_table(rows, joined.rollouts, missing, files.names)
    others = [frame for other, frame in enumerate(narrow) if other != number]
    book = options.rule_book
    cuts = tables.Cuts(group=options.unit, slices=book.slices if book is not None else ())
    tasks = tables.task_table(mine, rollouts, expected, cuts, others, files.names)
    problems, problem_count = about.problems_of(group, groups, files, read.table, read.sidecars)
    return Run(
        name=group.name or "",
        benchmark=about.benchmark_of(group, said, files),
        model=group.model or next((fact.model for fact in said if fact.model), None),
        # Where neither rows nor sidecars say, the inputs may be for one agent.
        agent=group.agent or next((fact.agent for fact in said if fact.agent), agents[0] if len(agents) == 1 else None),
        settings={**constants(mine), **about.settings_of(group, files, read.table, said)},
        rollouts=rollouts,
        tasks=tasks,
        checks=checks,
        tools=read.table.tools,
        problems=(*problems, *joined.problems),
        problem_count=problem_count + len(joined.problems),
        artifacts=about.artifacts_of(group, files, read.table, read.facts),
        schema=about.schema_of(group, files, read.table),
        roles=read.roles[group.bundles[0]],
        pass_threshold=_pass_threshold(options),
        expected_from=expected.source,
        expected_why_not=expected.reason,
        surprises=expected.notes,
        stated=about.stated_of(group, read.sidecars, said),
        reported=next((fact.reported for fact in said if fact.reported), ()),
        duplicates=joined.duplicates,
        notes=tuple(about.notes_of(joined, expected, tasks)),
        roots={files.names[file]: str(files.paths[file].resolve()) for file in files.of(group.bundles)},
    )


def _unjudged(run: Run, files: Files, options: Options) -> tuple[Problem, str] | None:
    """Where no row of lines of JSON has a reward or an error, the field that may be one, and what the user can say."""
    mapped = any(target == "reward" for target, _ in options.mapping)
    if mapped or run.rollouts.is_empty() or set(run.rollouts["outcome"]) - {str(Outcome.UNSCORED)}:
        return None
    own = {entry.path for entry in run.artifacts if entry.role == "rollouts" and format_named(entry.format).splittable}
    paths = [bundle.path for bundle in files.bundles if files.shown(bundle.path) in own and bundle.path.is_file()]
    head = next((head.rows for head in map(read_head, paths) if head.rows), ())
    if not head or any(name in row for row in head for name in BY_NAME["reward"].paths) or not looks_scored(head):
        return None
    reason = f"no row has a reward or score; {guesses(head)}"
    options_to_try = " ".join(mapping_to_try(head).replace("`", "'").split())
    note = f"no row has a reward or score, but a field looks like one: with `{options_to_try}` it is read"
    return Problem(source=RowSource(artifact=files.shown(paths[0])), reason=reason), note


def _named(runs: Sequence[Run], groups: Sequence[RunGroup], files: Files) -> list[Run]:
    """Runs with unique names: the user's, else model, else folder, else stem; in order of name."""
    called = []
    for run, group in zip(runs, groups, strict=True):
        bundle = files.bundles[group.bundles[0]]
        stem = stem_of(bundle.path)
        tails = (run.model or "", group.agent or "", bundle.folder, stem, group.skills or "", _above(bundle))
        candidates = (group.name, run.model, about.folder_name(bundle), stem)
        wanted = next(name for name in (*candidates, NAMELESS) if name and is_nameable(name))
        called.append(Called(wanted=wanted, tails=tails))
    under_names = [renamed(run, name) for run, name in zip(runs, unique_names(called), strict=True)]
    return sorted(under_names, key=lambda run: natural(run.name))


def _above(bundle: Bundle) -> str:
    """The folder around that of the run: of a sweep, each setting may have one with the same folders in it."""
    folder = bundle.path if bundle.path.is_dir() else bundle.path.parent
    return folder.resolve().parent.name


def renamed(run: Run, name: str) -> Run:
    """The run under another name, in its tables too."""

    def stamp(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.lit(name).alias("run"))

    return replace(run, name=name, rollouts=stamp(run.rollouts), tasks=stamp(run.tasks), checks=stamp(run.checks))


def told_apart(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs under names that differ; those of several analyses may have the same."""
    called = []
    for run in runs:
        path = Path(next(iter(run.roots.values()), ""))
        called.append(Called(wanted=run.name, tails=(run.agent or "", path.parent.name, stem_of(path))))
    names = unique_names(called)
    return tuple(run if run.name == name else renamed(run, name) for run, name in zip(runs, names, strict=True))
