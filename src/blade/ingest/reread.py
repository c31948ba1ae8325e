"""Reading a few rollouts again, in one sorted sweep over the artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from blade.core.errors import ArtifactError, RequestError
from blade.core.rollout import Rollout, RolloutKey, Source
from blade.core.run import Run
from blade.ingest.decode import Unusable, decode_row
from blade.ingest.formats import format_named
from blade.ingest.jsonl import is_compressed, open_bytes, records
from blade.ingest.light import Light

_LIGHT = frozenset(field.name for field in msgspec.structs.fields(Light))


def reread(run: Run, places: Sequence[tuple[str, int]]) -> list[Rollout]:
    """The rollouts at `places` in that order; raises when one is unknown, missing, or its file has changed."""
    rows = [_row(run, task_id, repeat) for task_id, repeat in places]
    bytes_of: dict[tuple[str, object], bytes] = {}
    for artifact in sorted({row["artifact"] for row in rows}):
        wanted = [row for row in rows if row["artifact"] == artifact]
        bytes_of |= {
            (artifact, _spot(row)): data for row, data in zip(wanted, _fetch(run, artifact, wanted), strict=True)
        }
    return [_rollout(run, row, bytes_of[row["artifact"], _spot(row)]) for row in rows]


def _row(run: Run, task_id: str, repeat: int) -> dict[str, Any]:
    found = run.rollouts.filter((pl.col("task_id") == task_id) & (pl.col("repeat") == repeat))
    if found.is_empty():
        repeats = run.rollouts.filter(pl.col("task_id") == task_id)["repeat"].to_list()
        if not repeats:
            raise RequestError(f"run {run.name} has no task {task_id!r}", hint=_nearest(run, task_id))
        raise RequestError(f"task {task_id} has no repeat {repeat}", hint=f"it has {', '.join(map(str, repeats))}")
    row = found.row(0, named=True)
    if row["artifact"] is None:
        raise RequestError(f"rollout {task_id}#{repeat} is missing: no artifact has a row of it")
    return row


def _nearest(run: Run, task_id: str) -> str:
    known = run.tasks["task_id"].to_list()
    near = [name for name in known if task_id.lower() in name.lower()] or known
    return "tasks are called " + ", ".join(near[:5]) + (", ..." if len(near) > 5 else "")


def _spot(row: dict[str, Any]) -> object:
    return row["member"] if row["member"] is not None else row["offset"]


def _fetch(run: Run, artifact: str, rows: list[dict[str, Any]]) -> Iterator[bytes]:
    path = Path(run.roots.get(artifact, artifact))
    if not path.exists():
        raise ArtifactError(f"{artifact} is no longer where it was", hint="analyze the rollouts again")
    fetch = _format(run, artifact).fetch
    if fetch is not None:
        return (fetch(path, row["member"]) for row in rows)
    return _from_stream(path, rows) if is_compressed(path) else _from_file(path, rows)


def _from_file(path: Path, rows: list[dict[str, Any]]) -> Iterator[bytes]:
    with open_bytes(path) as file:
        for row in rows:
            file.seek(row["offset"])
            yield file.readline()


def _from_stream(path: Path, rows: list[dict[str, Any]]) -> Iterator[bytes]:
    wanted = {row["offset"] for row in rows}
    found = {record.offset: record.data for record in records(path) if record.offset in wanted}
    return (found[row["offset"]] for row in rows)


def _format(run: Run, artifact: str) -> Any:
    return format_named(next(entry.format for entry in run.artifacts if entry.path == artifact))


def _rollout(run: Run, row: dict[str, Any], data: bytes) -> Rollout:
    source = Source(
        artifact=row["artifact"], member=row["member"], offset=row["offset"], length=row["length"], line=row["line"]
    )
    try:
        decoded, _ = decode_row(data.removeprefix(b"\xef\xbb\xbf"))
    except Unusable as why:
        raise ArtifactError(
            f"{source} has changed since it was read: {why}", hint="analyze the rollouts again"
        ) from None
    light = Light(**{name: row[name] for name in _LIGHT & row.keys() if name not in ("fired", "cannot_look")})
    key = RolloutKey(run=run.name, task_id=row["task_id"], repeat=row["repeat"])
    return _format(run, row["artifact"]).rollout(decoded, light, key, source)  # type: ignore[no-any-return]
