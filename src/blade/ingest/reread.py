"""Reading a few rollouts again, in one sorted sweep over the artifacts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from blade.ingest.decode import DEEPEST, Row, Unusable, decode_whole
from blade.ingest.fields import BY_NAME, using_roles
from blade.ingest.formats import Format, format_named
from blade.ingest.jsonl import BOM, Torn, lines_at
from blade.ingest.mapping import with_map
from blade.ingest.rollouts import rollout_of
from blade.ingest.row_table import LIGHT, Light
from blade.model.errors import ArtifactError, RequestError
from blade.model.limits import DEFAULT_LIMITS, ReadLimits, using_limits
from blade.model.roles import Role
from blade.model.rollout import Rollout, RolloutKey, RowSource
from blade.model.run import Run

_OF_THE_TASK = frozenset(
    path.partition(".")[0]
    for name in ("key", "expected", "expected_actions", "expected_statements", "script")
    for path in BY_NAME[name].paths
)
"""Fields of the inputs that speak of the task; what else stands there is no word of a verifier."""
_ROLES_OF_TASK: Sequence[Role] = ("expected", "expected-actions", "statements", "script", "prompt", "task-field")
_OF_ROLLOUTS = ("rollouts", "failures")
_AGAIN = "analyze the rollouts again"

Spot = dict[str, Any]
"""A row of the rollouts table: where the rollout stands, and its light columns."""


def reread(run: Run, places: Sequence[tuple[str, int]]) -> list[Rollout]:
    """The rollouts at `places` in that order; raises when one is unknown, missing, or its file has changed."""
    spots = _spots(run, places)
    data: dict[tuple[str, object], bytes] = {}
    formats = {entry.path: format_named(entry.format) for entry in run.artifacts if entry.role in _OF_ROLLOUTS}
    # What was read once is read again, whatever the limit was.
    longest = max((spot["length"] or 0 for spot in spots), default=0)
    with using_limits(ReadLimits(line=max(longest, DEFAULT_LIMITS.line), unpacked=sys.maxsize)):
        for artifact, here in sorted(_by_artifact(spots).items()):
            ordered = sorted(here.values(), key=lambda spot: (spot["offset"] or 0, spot["member"] or ""))
            for spot, found in zip(ordered, _fetch(run, artifact, formats[artifact], ordered), strict=True):
                data[artifact, _where(spot)] = _checked(spot, found)
        keys = _keys(run, sorted({spot["task_id"] for spot in spots}))
    as_row = {artifact: with_map(format_.as_row, run.field_map) for artifact, format_ in formats.items()}
    with using_roles(run.roles):
        return [
            _rollout(
                run,
                spot,
                data[spot["artifact"], _where(spot)],
                keys.get(spot["task_id"], {}),
                as_row[spot["artifact"]],
            )
            for spot in spots
        ]


def _by_artifact(spots: Sequence[Spot]) -> dict[str, dict[object, Spot]]:
    """The places in each file, each once."""
    found: dict[str, dict[object, Spot]] = {}
    for spot in spots:
        found.setdefault(spot["artifact"], {})[_where(spot)] = spot
    return found


def _keys(run: Run, tasks: list[str]) -> dict[str, Row]:
    """For tasks whose rollouts hold no key: the row of the inputs that does; none where it can no longer be read."""
    beside = run.tasks.filter(pl.col("task_id").is_in(tasks) & pl.col("key_artifact").is_not_null())
    found: dict[str, Row] = {}
    learned = {path.partition(".")[0] for role in _ROLES_OF_TASK for path in run.roles.paths(role)}
    for task, artifact, offset in beside.select("task_id", "key_artifact", "key_offset").sort("key_offset").iter_rows():
        path = Path(run.roots.get(artifact, artifact))
        try:
            row, _ = decode_whole(next(lines_at(path, [offset])))
        except (OSError, Torn, Unusable):
            continue
        found[task] = {name: raw for name, raw in row.items() if name in _OF_THE_TASK or name in learned}
    return found


def _spots(run: Run, places: Sequence[tuple[str, int]]) -> list[Spot]:
    tasks = sorted({task_id for task_id, _ in places})
    near = run.rollouts.filter(pl.col("task_id").is_in(tasks))
    known = {(spot["task_id"], spot["repeat"]): spot for spot in near.iter_rows(named=True)}
    for task_id, repeat in places:
        spot = known.get((task_id, repeat))
        if spot is None:
            raise _unknown(run, task_id, repeat, sorted(r for task, r in known if task == task_id))
        if spot["artifact"] is None:
            raise RequestError(
                f"rollout {task_id}#{repeat} is missing: no artifact has a row of it",
                hint="it was expected and never written",
            )
    return [known[task_id, repeat] for task_id, repeat in places]


def _unknown(run: Run, task_id: str, repeat: int, repeats: list[int]) -> RequestError:
    if repeats:
        return RequestError(f"task {task_id} has no repeat {repeat}", hint=f"it has {', '.join(map(str, repeats))}")
    known = run.tasks["task_id"].to_list()
    near = [name for name in known if task_id.lower() in name.lower()] or known
    hint = "tasks are called " + ", ".join(near[:5]) + (", ..." if len(near) > 5 else "")
    return RequestError(f"run {run.name} has no task {task_id!r}", hint=hint)


def _where(spot: Spot) -> object:
    return spot["member"] if spot["member"] is not None else spot["offset"]


def _fetch(run: Run, artifact: str, format_: Format, spots: list[Spot]) -> Iterator[bytes]:
    path = Path(run.roots.get(artifact, artifact))
    if not path.exists():
        raise ArtifactError(f"{artifact} is no longer where it was", hint=_AGAIN)
    fetch, member_records = format_.fetch, format_.member_records
    try:
        if member_records is not None and spots[0]["member"] is not None:
            yield from (record.data for record in member_records(path, [spot["member"] for spot in spots]))
        elif fetch is not None:
            yield from fetch(path, [spot["member"] for spot in spots])
        else:
            yield from lines_at(path, [spot["offset"] for spot in spots])
    except (Torn, OSError) as torn:
        raise ArtifactError(f"{artifact} has changed since it was read: {torn}", hint=_AGAIN) from None


def _checked(spot: Spot, data: bytes) -> bytes:
    found = data.removeprefix(BOM) if spot["offset"] == 0 else data
    if len(found) != spot["length"]:
        raise ArtifactError(f"{_source(spot)} has changed since it was read", hint=_AGAIN)
    return found


def _source(spot: Spot) -> RowSource:
    return RowSource(**{name: spot[name] for name in ("artifact", "member", "offset", "length", "line")})


def _rollout(run: Run, spot: Spot, data: bytes, beside: Row, as_row: Callable[[Row], Row] | None) -> Rollout:
    """The rollout of a row; what only the inputs say about its task is added."""
    light = Light(**{name: spot[name] for name in LIGHT if name in spot})
    key = RolloutKey(run=run.name, task_id=spot["task_id"], repeat=spot["repeat"])
    try:
        row, _ = decode_whole(data)
        row = {**beside, **row}
        return rollout_of(row if as_row is None else as_row(row), light, key, _source(spot))
    except Unusable as why:
        raise ArtifactError(f"{_source(spot)} has changed since it was read: {why}", hint=_AGAIN) from None
    except RecursionError:
        raise ArtifactError(
            f"{_source(spot)} is nested deeper than {DEEPEST} levels", hint="flatten that row"
        ) from None
