"""Shards put together: whether they are of one run, which are missing, and the sidecars of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.run.artifacts import TASK, Artifacts, write_document, write_rows
from blade_gym.run.manifest import differences, fingerprint, read_manifest, task_names
from blade_gym.run.plan import Shard, parse_shard
from blade_gym.run.resume import key_of, rows_of

MOST_TOLD = 3


class ShardSet(msgspec.Struct, frozen=True, kw_only=True):
    """Shards, and what their manifests say of the run that they are parts of."""

    files: tuple[Path, ...]
    manifests: Mapping[Path, dict[str, Any]]
    """Of the shards that have one."""
    missing: tuple[str, ...] = ()
    """Shards of the run that are not here, as `3/4`."""
    absent: tuple[tuple[int, str, str, int], ...] = msgspec.field(default=())
    """Their tasks: index, name, agent and rollouts."""

    def due(self) -> dict[str, Counter[int]]:
        """Rollouts that the missing shards were to have, by agent and task."""
        found: dict[str, Counter[int]] = {}
        for index, _, agent, rollouts in self.absent:
            found.setdefault(agent, Counter())[index] += rollouts
        return found

    def notices(self) -> list[str]:
        """What is missing, for a person; nothing where nothing is."""
        if not self.missing:
            return []
        what = f"shard {self.missing[0]} is" if len(self.missing) == 1 else f"shards {', '.join(self.missing)} are"
        rollouts = sum(task[3] for task in self.absent)
        counted = f"{len(self.absent)} tasks and {rollouts} rollouts are counted as expected and not there"
        return [f"{what} missing: {counted if self.absent else 'what is in it is not recorded'}"]


def shard_set(files: Sequence[Path]) -> ShardSet:
    """Shards of one run, or what was merged of them; raises where their manifests say that they are not."""
    manifests = _manifests(files)
    _one_run(manifests)
    lacking = {path: _lacking(one) for path, one in manifests.items()}
    _one_cut(lacking)
    known = list(lacking.values()) if len(lacking) == len(files) else []
    return _parts(files, manifests, known, _whole(manifests.values()))


def merged_of(rollouts: Path) -> ShardSet:
    """What rollouts were merged of; nothing is missing of a run that was never cut, or of a shard on its own."""
    manifests = {path: one for path, one in _manifests([rollouts]).items() if "missing_shards" in one}
    return _parts([rollouts], manifests, [_lacking(one) for one in manifests.values()], _whole(manifests.values()))


def _manifests(files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    found = {path: read_manifest(Artifacts(path).manifest) for path in files}
    return {path: one for path, one in found.items() if one is not None and "config_sha256" in one}


def _lacking(manifest: Mapping[str, Any]) -> list[Shard]:
    """The shards of its run that are not in a file."""
    if isinstance(names := manifest.get("missing_shards"), list):
        return [parse_shard(name) for name in names]
    return parse_shard(manifest["shard"]).others() if isinstance(manifest.get("shard"), str) else []


def _whole(manifests: Iterable[Mapping[str, Any]]) -> list[object]:
    """The tasks of all shards, where one of them says which these are."""
    found = (one["whole"] for one in manifests if isinstance(one.get("whole"), list))
    return next(found, [])


def _parts(
    files: Sequence[Path],
    manifests: Mapping[Path, dict[str, Any]],
    lacking: Sequence[Sequence[Shard]],
    whole: Sequence[object],
) -> ShardSet:
    """What none of the files has is missing of them all."""
    missing = [shard for shard in lacking[0] if all(shard in one for one in lacking)] if lacking else []
    absent = [
        task
        for position, entry in enumerate(whole)
        if any(shard.takes(position) for shard in missing) and (task := _task(entry)) is not None
    ]
    return ShardSet(files=tuple(files), manifests=manifests, missing=tuple(map(str, missing)), absent=tuple(absent))


def _task(entry: object) -> tuple[int, str, str, int] | None:
    match entry:
        case [int(index), str(name), str(agent), int(rollouts)]:
            return index, name, agent, rollouts
    return None


def _one_run(manifests: Mapping[Path, dict[str, Any]]) -> None:
    first = next(iter(manifests), None)
    for path, one in manifests.items():
        changed = differences({**manifests[first], "shard": None}, {**one, "shard": None}) if first else []
        if changed:
            more = f" and {len(changed) - MOST_TOLD} more" if len(changed) > MOST_TOLD else ""
            raise RequestError(
                f"{path} is of another run than {first}: {'; '.join(changed[:MOST_TOLD])}{more}",
                hint="one score is of one run; `blade compare` holds two against each other",
            )


def _one_cut(lacking: Mapping[Path, Sequence[Shard]]) -> None:
    cuts = {path: shards[0].of for path, shards in lacking.items() if shards}
    first = next(iter(cuts), None)
    for path, of in cuts.items():
        if first is not None and of != cuts[first]:
            raise RequestError(
                f"{path} is of a run that was cut into {of} shards, and {first} of one cut into {cuts[first]}: "
                "parts of different cuts",
                hint="shards of one run are all I/N with the same N",
            )


def merge_sidecars(parts: ShardSet, output: Path) -> None:
    """Write what stands beside the merged rollouts, so that the whole is a run like one that was never cut.

    Nothing is written where a shard has no manifest or inputs: it is not of a run of ours.
    """
    sides, whole = [Artifacts(path) for path in parts.files], Artifacts(output)
    told = len(parts.manifests) == len(sides) and all(side.inputs.is_file() for side in sides)
    if not told or whole.rollouts in parts.files:
        return
    inputs = sorted((row for side in sides for row in rows_of(side.inputs)), key=key_of)
    write_rows(whole.inputs, inputs)
    write_rows(whole.failures, [row for side in sides for row in rows_of(side.failures)])
    write_document(whole.manifest, _merged(parts, inputs))


def _merged(parts: ShardSet, inputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    manifests = list(parts.manifests.values())
    ended = [one.get("ended_at") for one in manifests]
    kept = {name: value for name, value in manifests[0].items() if name not in ("counts", "whole")}
    whole = {
        **kept,
        "task_ids": list(task_names({row[TASK]: row for row in inputs}).values()),
        "shard": None,
        "shards": [path.name for path in parts.files],
        "missing_shards": list(parts.missing),
        "missing_tasks": {name: rollouts for _, name, _, rollouts in parts.absent},
        "whole": _whole(manifests) if parts.missing else None,
        "started_at": min(str(one.get("started_at")) for one in manifests),
        "ended_at": max(str(one) for one in ended) if all(ended) and not parts.missing else None,
    }
    return {**whole, "config_sha256": fingerprint(whole)}
