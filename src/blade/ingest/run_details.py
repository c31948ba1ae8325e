"""What is known of a run beside its tables: benchmark, settings, artifacts, schema, stated numbers, notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from blade.ingest import fields
from blade.ingest.artifacts import SCANNED
from blade.ingest.expected import due_names
from blade.ingest.formats import RunFacts
from blade.ingest.frames import natural
from blade.ingest.row_table import EXTRA
from blade.model.pattern import pattern_of
from blade.model.rollout import Problem
from blade.model.run import Artifact, SchemaField, Stated

if TYPE_CHECKING:
    from blade.ingest.artifacts import Bundle, Files
    from blade.ingest.join import Expected, JoinedRollouts
    from blade.ingest.runs import RunGroup
    from blade.ingest.scan import RowTable
    from blade.ingest.sidecars import Sidecars

_AGENT = pattern_of(
    r"^(?!(?:simple|gymnasium)_agent$)(?P<benchmark>.+?)(?:_benchmark)?_(?:simple_agent|gymnasium_agent|agent)$"
)
_DULL_FOLDERS = ("", ".", "data", "results", "outputs", "output", "rollouts", "runs", "tmp", "logs", "examples")
MOST_VALUES = 4
MOST_TWINS = 3


_PACKAGE_PARTS = ("skill", "golden_reports")
"""Folders that stand beside the rollouts in the package of a benchmark."""


def folder_name(bundle: Bundle) -> str | None:
    """The folder's name, where it says anything."""
    return bundle.folder if bundle.folder.lower() not in _DULL_FOLDERS else None


def _folder_benchmark(bundle: Bundle) -> str | None:
    """The package whose rollouts these are, else the folder's name."""
    folder = bundle.path.resolve().parent
    packaged = folder.name == "rollouts" and any((folder.parent / part).is_dir() for part in _PACKAGE_PARTS)
    return folder.parent.name if packaged else folder_name(bundle)


def merged_facts(said: Iterable[RunFacts]) -> RunFacts:
    """One set of facts; the first that says something is believed."""
    merged = RunFacts()
    for facts in said:
        merged = RunFacts(
            benchmark=merged.benchmark or facts.benchmark,
            model=merged.model or facts.model,
            agent=merged.agent or facts.agent,
            settings={**facts.settings, **merged.settings},
            expected=merged.expected or facts.expected,
            absent={**facts.absent, **merged.absent},
            source=merged.source if merged.expected else facts.source,
            recorded={**facts.recorded, **merged.recorded},
            recorded_for={**facts.recorded_for, **merged.recorded_for},
            reported=merged.reported or facts.reported,
            note=merged.note or facts.note,
        )
    return merged


def benchmark_of(group: RunGroup, said: Sequence[RunFacts], files: Files) -> str | None:
    """The benchmark by manifest, config, agent's name, package or folder, in that order."""
    named = next((fact.benchmark for fact in said if fact.benchmark), None)
    agent = _AGENT.match(group.agent or "")
    return named or (agent["benchmark"] if agent else None) or _folder_benchmark(files.bundles[group.bundles[0]])


def stated_repeats(said: Sequence[RunFacts]) -> tuple[str, dict[str, int]] | None:
    """Expected repeats by task, from what says so; shards add their tasks to each other's."""
    sources = [fact.source for fact in said if fact.expected]
    if not sources:
        return None
    repeats: dict[str, int] = {}
    for fact in said:
        for task, count in (fact.expected or {}).items():
            repeats[task] = max(count, repeats.get(task, 0))
    return sources[0], repeats


def absent_repeats(said: Sequence[RunFacts]) -> dict[str, int]:
    """Repeats of tasks whose part of the run is not here."""
    return {task: count for fact in said for task, count in fact.absent.items()}


def settings_of(group: RunGroup, files: Files, table: RowTable, said: Sequence[RunFacts]) -> dict[str, str]:
    """Sampling, tools and limits; the rows are believed before the sidecars."""
    counts: dict[str, dict[str, int]] = {}
    mine = frozenset(group.bundles)
    for (file, setting), count in table.settings.items():
        if files.owners[file] in mine and group.holds(setting.agent, setting.model, setting.skills):
            for name, value in setting.values:
                of_name = counts.setdefault(name, {})
                of_name[value] = of_name.get(value, 0) + count
    merged = {name: value for fact in reversed(said) for name, value in fact.settings.items()}
    merged |= {name: _one_or_several(values) for name, values in counts.items()}
    if group.skills:
        merged["skills"] = group.skills
    return dict(sorted(merged.items()))


def _one_or_several(counts: dict[str, int]) -> str:
    values = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if len(values) == 1:
        return values[0][0]
    return "several: " + ", ".join(f"{value} ({count} rollouts)" for value, count in values[:MOST_VALUES])


def problems_of(
    group: RunGroup, groups: Sequence[RunGroup], files: Files, table: RowTable, sidecars: Sequence[Sidecars]
) -> tuple[list[Problem], int]:
    """Problems of the run's files and of files that gave no run at all, as listed and as counted."""
    used = {bundle for each in groups for bundle in each.bundles}
    lost = {bundle for bundle in range(len(files.bundles)) if bundle not in used}
    mine = tuple(sorted(lost | set(group.bundles)))
    listed = [problem for number in files.of(mine) for problem in table.problems.get(number, ())]
    beside = [problem for bundle in mine for problem in sidecars[bundle].problems]
    count = sum(table.problem_counts.get(number, 0) for number in files.of(mine))
    return [*listed, *beside], count + len(beside)


def artifacts_of(group: RunGroup, files: Files, table: RowTable, facts: Sequence[RunFacts]) -> tuple[Artifact, ...]:
    """The run's files: those that were scanned, then the other sidecars."""
    listed = [
        Artifact(
            path=files.shown(files.paths[number]),
            role=files.roles[number],
            format=files.formats[number],
            rows=table.counts.get(number, 0),
            bytes=files.paths[number].stat().st_size,
            note=facts[files.owners[number]].note if files.roles[number] == "rollouts" else "",
        )
        for number in files.of(group.bundles)
    ]
    beside = [pair for owner in group.bundles for pair in sorted(files.bundles[owner].sidecars.items())]
    listed += [
        Artifact(path=files.shown(path), role=role, format=path.suffix.lstrip("."), bytes=path.stat().st_size)
        for role, path in beside
        if role not in SCANNED
    ]
    return tuple(listed)


def schema_of(group: RunGroup, files: Files, table: RowTable) -> tuple[SchemaField, ...]:
    """Every field of the rows, how often it was seen, and what it was taken as."""
    counts: dict[str, int] = {}
    numbers = [number for number in files.of(group.bundles) if files.roles[number] == "rollouts"]
    total = sum(table.counts.get(number, 0) for number in numbers)
    for number in numbers:
        for name, count in table.seen.get(number, {}).items():
            counts[name] = counts.get(name, 0) + count
    small = {name.removeprefix(EXTRA) for name in table.rows.columns if name.startswith(EXTRA)}
    said = frozenset(due_names(tuple(sorted(counts))))
    return tuple(
        SchemaField(path=name, seen=counts[name], rows=total, taken_as=_taken(name, small, said))
        for name in sorted(counts)
    )


def _taken(name: str, small: set[str], said: frozenset[str]) -> str:
    direct = fields.taken_as(name)
    below = ", ".join(
        f"{path.removeprefix(name + '.')} as {field.name}"
        for field in fields.TABLE
        for path in field.paths
        if path.startswith(name + ".")
    )
    candidate = "slice candidate" if name in small else ""
    account = "what the verifier says" if name in said and not direct and not below else ""
    return "; ".join(filter(None, (direct, below, account, candidate)))


def stated_of(group: RunGroup, sidecars: Sequence[Sidecars], said: Sequence[RunFacts]) -> tuple[Stated, ...]:
    """Numbers that sidecars state of the run's agent, or of nobody by name."""
    found: list[Stated] = []
    for bundle in group.bundles:
        by_agent = sidecars[bundle].stated
        only = next(iter(by_agent)) if len(by_agent) == 1 else group.agent
        for agent in dict.fromkeys((group.agent if group.agent in by_agent else only, None)):
            found += by_agent.get(agent, [])
    for fact in said:
        found += [Stated(name=name, value=value, source="log") for name, value in fact.recorded.items()]
        own = fact.recorded_for.get(group.agent or "", {})
        found += [Stated(name="mean/reward", value=value, source=source) for source, value in own.items()]
    return tuple(found)


def notes_of(joined: JoinedRollouts, expected: Expected, tasks: pl.DataFrame) -> list[str]:
    """What a reader of the numbers must know about identity and shape."""
    kinds = tasks.filter(pl.col("id_kind").is_not_null()).group_by("id_kind").len().sort("id_kind")
    known = ", ".join(f"{kind} ({count})" for kind, count in kinds.iter_rows())
    notes = [f"tasks are known by: {known}", *expected.notes]
    marked = tasks.filter(pl.col("key_fp").is_not_null() | pl.col("prompt_fp").is_not_null())
    marked = marked.filter(marked.select("key_fp", "prompt_fp").is_duplicated())
    twins = marked.group_by("key_fp", "prompt_fp").agg("task_id")
    if twins.height:
        examples = sorted(
            (sorted(ids, key=natural)[:MOST_TWINS] for ids in twins["task_id"]), key=lambda ids: natural(ids[0])
        )
        shown = "; ".join(" = ".join(ids) for ids in examples[:MOST_TWINS])
        groups = "1 group" if twins.height == 1 else f"{twins.height} groups"
        notes.append(f"{groups} of tasks with the same key and prompt (duplicate tasks): {shown}")
    if joined.attempts:
        notes.append(f"{joined.attempts} failed attempts belong to rollouts that were finished later, or tried again")
    return notes
