"""Where a package stands: what is there, what is open, what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from blade.package.anchor_facts import read_facts
from blade.package.documents import OpenPoint, notes_of, open_points, read_text
from blade.package.layout import CLEARANCE, Package, shown

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


class StatusLine(Struct, frozen=True, kw_only=True):
    """One thing of a package: the files it was found in, or none."""

    part: str
    """D1, D2, D3, sidecars or notes."""
    what: str
    there: bool
    files: tuple[str, ...] = ()
    note: str = ""


class PackageStatus(Struct, frozen=True, kw_only=True):
    """A package at a glance."""

    benchmark: str
    lines: tuple[StatusLine, ...]
    open: tuple[OpenPoint, ...]
    next: str
    """The command to run next."""
    why: str


def status(package: Package) -> PackageStatus:
    """What is there, by names and texts alone; nothing is analyzed."""
    points = tuple(point for part in ("skill", "rollouts", "golden") for point in open_points(package, part))
    command, why = _next(package, points)
    return PackageStatus(benchmark=package.benchmark, lines=tuple(_lines(package)), open=points, next=command, why=why)


def _lines(package: Package) -> Iterator[StatusLine]:
    def line(part: str, what: str, *paths: Path | None, note: str = "") -> StatusLine:
        files = tuple(shown(path, package.folder) for path in paths if path is not None and path.is_file())
        return StatusLine(part=part, what=what, there=bool(files), files=files, note=note)

    yield line("D1", "skill", package.skill)
    yield line("D1", "rules (optional)", package.rule_book)
    count = len(package.rollouts)
    note = "" if count > 1 else "two comparable runs are needed"
    yield line("D2", f"rollouts ({count} {'file' if count == 1 else 'files'})", *package.rollouts, note=note)
    yield line("D2", "clearance", package.folder / CLEARANCE)
    if not package.goldens:
        yield line("D3", "golden report")
    for golden in package.goldens:
        optional = " (optional)" if golden.comparison else ""
        known = read_facts(golden.facts) if golden.facts is not None else None
        drafts = f", {len(known.drafts)} not reviewed" if known is not None and known.drafts else ""
        yield line("D3", f"golden report of {golden.model}", golden.report)
        yield line("D3", f"metrics sidecar{optional}", golden.metrics)
        note = f"{len(known.facts)} facts{drafts}" if known is not None else ""
        yield line("D3", f"anchor facts{optional}", golden.facts, note=note)
        yield line("D3", f"shallow baseline{optional}", golden.shallow)
    files = sorted(
        path
        for folder in ("", "rollouts", "data", "artifacts", "configs", "run_notes")
        for path in (package.folder / folder).glob("*")
        if path.is_file() and path != package.rule_book
    )
    for what, endings in ARTIFACTS:
        yield line("sidecars", what, *(path for path in files if any(ending in path.name for ending in endings)))
    notes = notes_of(package)
    text = read_text(notes) if notes is not None else ""
    for what, means in NOTES:
        yield line("notes", what, notes if means.search(text) else None)


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
