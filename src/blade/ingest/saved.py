"""The tables of an analysis on disk: written beside the report, read back in place of the artifacts while these are unchanged."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from msgspec.structs import asdict, replace

from blade.files import ATTRIBUTIONS_FILE
from blade.ingest.folder_files import walk
from blade.ingest.runs import safe_name
from blade.model.errors import ArtifactError
from blade.model.roles import Roles
from blade.model.rollout import Problem
from blade.model.run import Artifact, PublishedNumber, Run, SchemaField, Stated

VERSION = 3
_BLOCK = 1 << 16
_META = "blade"


def save(run: Run, folder: Path, *, at: Path) -> None:
    """Write `rollouts.parquet`, `tasks.parquet` and `checks.parquet` for use `at` a folder; the rest of a run is metadata."""
    about = {
        "version": VERSION,
        "name": run.name,
        "benchmark": run.benchmark,
        "model": run.model,
        "agent": run.agent,
        "settings": dict(run.settings),
        "tools": run.tools,
        "problems": run.problems,
        "problem_count": run.problem_count,
        "artifacts": [asdict(artifact) for artifact in run.artifacts],
        "schema": [asdict(entry) for entry in run.schema],
        "stated": [asdict(entry) for entry in run.stated],
        "reported": [asdict(entry) for entry in run.reported],
        "pass_threshold": run.pass_threshold,
        "expected_from": run.expected_from,
        "expected_why_not": run.expected_why_not,
        "duplicates": run.duplicates,
        "excluded": run.excluded,
        "surprises": run.surprises,
        "notes": run.notes,
        "rule_book_name": run.rule_book_name,
        "field_map": run.field_map,
        "roles": run.roles,
        "sources": [_source(shown, Path(path), at) for shown, path in sorted(run.roots.items()) if Path(path).exists()],
    }
    meta = {_META: msgspec.json.encode(about).decode()}
    save_table(run.rollouts, folder / "rollouts.parquet", meta)
    save_table(run.tasks, folder / "tasks.parquet")
    save_table(run.checks, folder / "checks.parquet")


def save_table(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write one table."""
    try:
        table.write_parquet(path, metadata=metadata)
    except pl.exceptions.PolarsError as error:
        # What polars says of a full disk names a broken table, and not the disk.
        raise OSError(errno.EIO, f"the tables did not go through; is the disk full? ({error})") from None


def load_saved(folder: Path, name: str | None = None) -> Run:
    """The run of an analysis folder; raises when its artifacts have changed since."""
    try:
        about = msgspec.json.decode(pl.read_parquet_metadata(folder / "rollouts.parquet")[_META])
        frames = [pl.read_parquet(folder / f"{table}.parquet") for table in ("rollouts", "tasks", "checks")]
    except (OSError, KeyError, pl.exceptions.PolarsError, msgspec.MsgspecError) as error:
        raise ArtifactError(
            f"{folder} holds no readable analysis: {error}", hint="run blade analyze -o again"
        ) from None
    if about.get("version") != VERSION:
        raise ArtifactError(f"{folder} was written by another version of BLADE", hint="run blade analyze -o again")
    roots = {entry["shown"]: _unchanged(entry, folder) for entry in about["sources"]}
    run = _run(about, frames, roots)
    name = safe_name(name or run.name)
    if name == run.name:
        return run
    renamed = [frame.with_columns(pl.lit(name).alias("run")) for frame in frames]
    return replace(run, name=name, rollouts=renamed[0], tasks=renamed[1], checks=renamed[2])


def _run(about: dict[str, Any], frames: list[pl.DataFrame], roots: dict[str, str]) -> Run:
    plain = (
        "name",
        "benchmark",
        "model",
        "agent",
        "settings",
        "problem_count",
        "pass_threshold",
        "expected_from",
        "expected_why_not",
        "duplicates",
        "rule_book_name",
    )
    return Run(
        **{field: about[field] for field in plain},
        rollouts=frames[0],
        tasks=frames[1],
        checks=frames[2],
        tools=tuple(about["tools"]),
        problems=tuple(msgspec.convert(entry, Problem) for entry in about["problems"]),
        artifacts=tuple(Artifact(**entry) for entry in about["artifacts"]),
        schema=tuple(SchemaField(**entry) for entry in about["schema"]),
        stated=tuple(Stated(**entry) for entry in about["stated"]),
        reported=tuple(PublishedNumber(**entry) for entry in about.get("reported", ())),
        excluded=tuple(about["excluded"]),
        surprises=tuple(about["surprises"]),
        notes=tuple(about["notes"]),
        field_map=tuple((target, path) for target, path in about.get("field_map", ())),
        roots=roots,
        roles=msgspec.convert(about.get("roles", {}), Roles),
    )


def _source(shown: str, path: Path, folder: Path) -> dict[str, Any]:
    status = path.stat()
    return {
        "shown": shown,
        "path": Path(os.path.relpath(path, folder.resolve())).as_posix(),
        "size": status.st_size,
        "modified": status.st_mtime_ns,
        "ends": _ends(path, status.st_size),
    }


def _ends(path: Path, size: int) -> str:
    """A hash of the first and last block; of a folder, of the names and sizes of its files."""
    if path.is_dir():
        return blake2b(
            "\n".join(f"{name} {bytes_}" for name, bytes_ in _files(path)).encode(), digest_size=8
        ).hexdigest()
    with path.open("rb") as file:
        digest = blake2b(file.read(_BLOCK), digest_size=8)
        file.seek(max(0, size - _BLOCK))
        digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    for here in walk(folder):
        # What readers say of a run does not change the run.
        for name in (name for name in here.files if name != ATTRIBUTIONS_FILE):
            path = here.path / name
            yield path.relative_to(folder).as_posix(), path.stat().st_size


def _unchanged(entry: dict[str, Any], folder: Path) -> str:
    path = (folder / entry["path"]).resolve()
    if not path.exists():
        return str(path)
    status = path.stat()
    same_bytes = status.st_size == entry["size"] and _ends(path, status.st_size) == entry["ends"]
    if not same_bytes or (status.st_mtime_ns != entry["modified"] and status.st_size > 2 * _BLOCK):
        raise ArtifactError(
            f"{entry['shown']} has changed since {folder} was written", hint="run blade analyze -o again"
        )
    return str(path)
