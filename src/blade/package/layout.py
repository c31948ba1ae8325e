"""Where the parts of a package stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from blade.model.errors import ArtifactError

_REPORT = re.compile(r"(?P<stem>.+?)[-_]golden[-_]report\.md")
_COMPARISON = re.compile(r"[-_]vs[-_]")
_SIDECARS = ("materialized_inputs", "reward_profiling", "aggregate", "failures", "agent_metrics")
_ROWS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True, kw_only=True)
class Golden:
    """A golden report and what stands beside it; a part that is not there is None."""

    model: str
    """What the files are named after."""
    report: Path
    metrics: Path | None
    facts: Path | None
    shallow: Path | None

    @property
    def comparison(self) -> bool:
        """It compares models (`a_vs_b`), and needs neither metrics nor facts."""
        return _COMPARISON.search(self.model) is not None


@dataclass(frozen=True, kw_only=True)
class Package:
    """The files of a benchmark's package, in the order of their names."""

    folder: Path
    benchmark: str
    skill: Path | None
    book: Path | None
    """`blade.yaml`, what the package teaches the rules."""
    rollouts: tuple[Path, ...]
    """Files of scored rows; sidecars are not among them."""
    goldens: tuple[Golden, ...]


def find_package(folder: Path) -> Package:
    """The package in a folder, however much of it is there yet; ArtifactError when there is no such folder."""
    if not folder.is_dir():
        raise ArtifactError(f"no folder {folder}", hint="blade package init NAME --from RUN drafts one")
    return Package(
        folder=folder,
        benchmark=folder.resolve().name,
        skill=_first(folder / "skill" / "SKILL.md", folder / "SKILL.md"),
        book=_first(folder / "skill" / "blade.yaml", folder / "blade.yaml"),
        rollouts=tuple(_rollouts(folder)),
        goldens=tuple(_goldens(folder / "golden_reports")),
    )


def _first(*places: Path) -> Path | None:
    return next((place for place in places if place.is_file()), None)


def _rollouts(folder: Path) -> Iterator[Path]:
    """Files in `rollouts/`; where there are none, those in `data/` that are named so."""
    found = [path for path in _rows(folder / "rollouts") if not _is_sidecar(path)]
    return iter(found or [path for path in _rows(folder / "data") if "rollout" in path.name and not _is_sidecar(path)])


def _rows(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() and path.name.endswith(_ROWS))


def _is_sidecar(path: Path) -> bool:
    return any(word in path.name for word in _SIDECARS)


def _goldens(folder: Path) -> Iterator[Golden]:
    for path in sorted(folder.glob("*.md")):
        match = _REPORT.fullmatch(path.name)
        if match is None:
            continue
        stem = match["stem"]
        yield Golden(
            model=stem,
            report=path,
            metrics=_named(folder, f"{path.stem}_metrics.json", f"{path.stem}.metrics.json"),
            facts=_named(folder, f"{stem}_anchor_facts.json"),
            shallow=_named(folder, f"{stem}_shallow.md"),
        )


def _named(folder: Path, *names: str) -> Path | None:
    """The first of the names that is there; `-` may stand for `_`."""
    there = {path.name.replace("-", "_"): path for path in sorted(folder.iterdir(), reverse=True) if path.is_file()}
    return next((there[name.replace("-", "_")] for name in names if name.replace("-", "_") in there), None)
