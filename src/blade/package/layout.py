"""Where the parts of a package are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from blade.model.errors import ArtifactError

CLEARANCE = "rollouts/CLEARANCE.md"
"""Where the owner of the data clears them for sharing."""
_REPORT = re.compile(r"(?P<stem>.+?)[-_]golden[-_]report\.md")
_COMPARISON = re.compile(r"[-_]vs[-_]")
_SIDECAR = re.compile(r"materialized_inputs|reward_profiling|aggregate|failures|agent_metrics")
_ROWS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


class GoldenFiles(Struct, frozen=True, kw_only=True):
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


class Package(Struct, frozen=True, kw_only=True):
    """The files of a benchmark's package, in the order of their names."""

    folder: Path
    benchmark: str
    skill: Path | None
    rule_book: Path | None
    """`blade.yaml`, the custom rules of the benchmark."""
    rollouts: tuple[Path, ...]
    """Files of scored rows; sidecars are not among them."""
    goldens: tuple[GoldenFiles, ...]


def find_package(folder: Path) -> Package:
    """The package in a folder, however much of it is there yet; ArtifactError when there is no such folder."""
    if not folder.is_dir():
        raise ArtifactError(f"no folder {folder}", hint="blade package init NAME --from RUN drafts one")
    scored = [path for path in _rows(folder / "rollouts") if not _SIDECAR.search(path.name)]
    # Where `rollouts/` holds none, files of `data/` that are named so.
    named = [path for path in _rows(folder / "data") if "rollout" in path.name and not _SIDECAR.search(path.name)]
    return Package(
        folder=folder,
        benchmark=folder.resolve().name,
        skill=_first(folder / "skill" / "SKILL.md", folder / "SKILL.md"),
        rule_book=_first(folder / "skill" / "blade.yaml", folder / "blade.yaml"),
        rollouts=tuple(scored or named),
        goldens=tuple(_goldens(folder / "golden_reports")),
    )


def _first(*paths: Path) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _rows(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() and path.name.endswith(_ROWS))


def _goldens(folder: Path) -> Iterator[GoldenFiles]:
    files = sorted((path for path in folder.glob("*") if path.is_file()), reverse=True)
    # A `-` may stand for `_` in the name of what stands beside a report.
    named = {path.name.replace("-", "_"): path for path in files}

    def beside(*names: str) -> Path | None:
        return next((named[key] for name in names if (key := name.replace("-", "_")) in named), None)

    for path in sorted(folder.glob("*.md")):
        match = _REPORT.fullmatch(path.name)
        if match is not None:
            stem = match["stem"]
            yield GoldenFiles(
                model=stem,
                report=path,
                metrics=beside(f"{path.stem}_metrics.json", f"{path.stem}.metrics.json"),
                facts=beside(f"{stem}_anchor_facts.json"),
                shallow=beside(f"{stem}_shallow.md"),
            )


def shown(path: Path, folder: Path) -> str:
    """A file as the package names it."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
