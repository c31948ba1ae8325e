"""Where a package stands: what is there, what is open, what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from blade.package.documents import read_text, shown
from blade.package.facts import read_facts
from blade.package.layout import Package
from blade.package.open_points import CLEARANCE, OpenPoint, files_of, notes_of, open_points

ARTIFACTS = (
    ("aggregate metrics", ("_aggregate_metrics",)),
    ("materialized inputs", ("_materialized_inputs",)),
    ("reward profile", ("_reward_profiling",)),
    ("config files", (".yaml", ".yml", "_config")),
)
NOTES = (
    ("model names or checkpoints", re.compile(r"\b(?:models?|checkpoints?)\b[^\n]*?:\s*(?!OPEN)\S", re.IGNORECASE)),
    (
        "sampling settings",
        re.compile(r"\b(?:temperature|top[_ -]?p|sampling|seed|greedy)\b(?![^\n]*OPEN)", re.IGNORECASE),
    ),
    ("repeat counts", re.compile(r"\b(?:repeats?|rollouts per task|samples per task|k)\b[^\n]*\d", re.IGNORECASE)),
)
MOST_OPEN = 12


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing of a package: the files it was found in, or none."""

    part: str
    """D1, D2, D3, sidecars or notes."""
    what: str
    there: bool
    files: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Status:
    """A package at a glance."""

    benchmark: str
    lines: tuple[Line, ...]
    open: tuple[OpenPoint, ...]
    next: str
    """The command to run next."""
    why: str


def status(package: Package) -> Status:
    """What is there, by names and texts alone; nothing is analyzed."""
    lines = (*_skill(package), *_rollouts(package), *_goldens(package), *_sidecars(package), *_notes(package))
    points = tuple(
        point
        for part in ("skill", "rollouts", "golden")
        for path in files_of(package, part)
        for point in open_points(path, package.folder)
    )
    command, why = _next(package, points)
    return Status(benchmark=package.benchmark, lines=lines, open=points, next=command, why=why)


def _line(part: str, what: str, package: Package, *paths: Path | None, note: str = "") -> Line:
    files = tuple(shown(path, package.folder) for path in paths if path is not None and path.is_file())
    return Line(part=part, what=what, there=bool(files), files=files, note=note)


def _skill(package: Package) -> Iterator[Line]:
    yield _line("D1", "skill", package, package.skill)
    yield _line("D1", "rules (optional)", package, package.book)


def _rollouts(package: Package) -> Iterator[Line]:
    count = len(package.rollouts)
    note = "" if count > 1 else "two comparable runs are needed"
    yield _line("D2", f"rollouts ({count} {'file' if count == 1 else 'files'})", package, *package.rollouts, note=note)
    yield _line("D2", "clearance", package, package.folder / CLEARANCE)


def _goldens(package: Package) -> Iterator[Line]:
    if not package.goldens:
        yield Line(part="D3", what="golden report", there=False)
    for golden in package.goldens:
        optional = " (optional)" if golden.comparison else ""
        yield _line("D3", f"golden report of {golden.model}", package, golden.report)
        yield _line("D3", f"metrics sidecar{optional}", package, golden.metrics)
        yield _line("D3", f"anchor facts{optional}", package, golden.facts, note=_drafts(golden.facts))
        yield _line("D3", f"shallow baseline{optional}", package, golden.shallow)


def _drafts(path: Path | None) -> str:
    if path is None:
        return ""
    found = read_facts(path)
    drafts = f", {len(found.drafts)} not reviewed" if found.drafts else ""
    return f"{len(found.facts)} facts{drafts}"


def _sidecars(package: Package) -> Iterator[Line]:
    near = sorted(
        path
        for folder in ("", "rollouts", "data", "artifacts", "configs", "run_notes")
        for path in (package.folder / folder).glob("*")
        if path.is_file() and path != package.book
    )
    for what, marks in ARTIFACTS:
        mine = [path for path in near if any(mark in path.name for mark in marks)]
        yield _line("sidecars", what, package, *mine)


def _notes(package: Package) -> Iterator[Line]:
    path = notes_of(package)
    text = read_text(path) if path is not None else ""
    for what, means in NOTES:
        yield _line("notes", what, package, path if means.search(text) else None)


def _next(package: Package, points: tuple[OpenPoint, ...]) -> tuple[str, str]:
    """The first thing that is missing decides."""
    folder = package.folder.as_posix()
    name = package.benchmark
    if not package.rollouts:
        return f"blade package init {name} --from RUN --benchmark-dir {folder}", "there are no rollouts"
    if package.skill is None or not package.goldens:
        again = " ".join(f"--from {path.as_posix()}" for path in package.rollouts)
        target = (package.folder.parent / f"{name}-draft").as_posix()
        return (
            f"blade package init {name} {again} --benchmark-dir {target}",
            "skill or golden report is missing: draft them aside and copy over",
        )
    for golden in package.goldens:
        report, stem = golden.report.as_posix(), (golden.report.parent / golden.model).as_posix()
        if golden.comparison:
            continue
        if golden.facts is None:
            more = f"--benchmark {name} --model-name {golden.model} --output {stem}_anchor_facts.json"
            return f"blade package extract-anchor-facts --golden {report} {more}", "anchor facts are missing"
        if golden.shallow is None:
            return f"blade package make-shallow --input {report} --output {stem}_shallow.md", "no shallow baseline"
    if len(package.rollouts) < 2:
        target = (package.folder / "rollouts" / "<model>_rollouts.jsonl").as_posix()
        return f"cp SECOND_RUN.jsonl {target}", "one run is there, two comparable ones are needed"
    if points:
        return f"edit {(package.folder / points[0].file).as_posix()}:{points[0].line}", f"{len(points)} points are open"
    unread = next(
        (one.facts for one in package.goldens if one.facts is not None and read_facts(one.facts).drafts), None
    )
    if unread is not None:
        return f"edit {unread.as_posix()}", 'review each fact, then set its "status" to "reviewed"'
    return f"blade package validate --benchmark-dir {folder}", "every part is there"
