"""What a scan will read: every file of every bundle, what it is, and how it is shown."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, field

from blade.ingest.artifacts import Bundle, Found
from blade.ingest.formats import format_named
from blade.ingest.scan import Chunk, chunks

SCANNED = ("rollouts", "failures", "inputs", "dataset")
"""Roles whose rows are read by the scan; other sidecars are read whole."""


class Files(Struct, kw_only=True):
    """Every file of a scan by number: which bundle it belongs to and what it is."""

    bundles: tuple[Bundle, ...]
    root: str
    paths: list[Path] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)

    def shown(self, path: Path) -> str:
        """The path as people see it: relative to the folder that holds all files."""
        return Path(os.path.relpath(path.resolve(), self.root)).as_posix()

    @property
    def names(self) -> dict[int, str]:
        """How each file is shown."""
        return {number: self.shown(path) for number, path in enumerate(self.paths)}

    def of(self, bundles: tuple[int, ...]) -> list[int]:
        """Numbers of the files that belong to some bundles."""
        return [number for number, owner in enumerate(self.owners) if owner in bundles]


def plan(found: Found) -> tuple[Files, list[Chunk]]:
    """The files in the order of the scan, and the pieces to read."""
    root = os.path.commonpath([str(bundle.path.resolve().parent) for bundle in found.bundles])
    files, pieces = Files(bundles=found.bundles, root=root), []
    for owner, bundle in enumerate(found.bundles):
        for role in SCANNED:
            path = bundle.path if role == "rollouts" else bundle.sidecars.get(role)
            if path is None:
                continue
            format_ = bundle.format if role == "rollouts" or bundle.format.splittable else format_named("gym")
            pieces += chunks(len(files.paths), path, files.shown(path), format_, role)
            files.paths.append(path)
            files.roles.append(role)
            files.owners.append(owner)
            files.formats.append(format_.name)
    return files, pieces
