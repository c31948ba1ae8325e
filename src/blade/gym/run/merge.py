"""Shards put together: whether they are of one run, which are missing, and the sidecars of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blade.core.errors import RequestError
from blade.gym.run.artifacts import TASK, Artifacts, write_document, write_rows
from blade.gym.run.manifest import differences, fingerprint, read_manifest, task_names
from blade.gym.run.resume import key_of, rows_of
from blade.gym.run.shards import Shard, parse_shard

MOST_TOLD = 3


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Shards, and what their manifests say of the run that they are parts of."""

    files: tuple[Path, ...]
    manifests: Mapping[Path, dict[str, Any]]
    """Of the shards that have one."""
    missing: tuple[str, ...] = ()
    """Shards of the run that are not here, as `3/4`."""
    absent: tuple[tuple[int, str, str, int], ...] = field(default=())
    """Their tasks: index, name, agent and rollouts."""

    def due(self) -> dict[str, Counter[int]]:
        """Rollouts that the missing shards were to have, by agent and task."""
        found: dict[str, Counter[int]] = {}
        for index, _, agent, rollouts in self.absent:
            found.setdefault(agent, Counter())[index] += rollouts
        return found

    def notice(self) -> str | None:
        """What is missing, for a person; None where nothing is."""
        if not self.missing:
            return None
        what = f"shard {self.missing[0]} is" if len(self.missing) == 1 else f"shards {', '.join(self.missing)} are"
        rollouts = sum(task[3] for task in self.absent)
        counted = f"{len(self.absent)} tasks and {rollouts} rollouts are counted as expected and not there"
        return f"{what} missing: {counted if self.absent else 'what is in it is not recorded'}"


def parts_of(files: Sequence[Path]) -> Parts:
    """Shards of one run; raises where their manifests say that they are not."""
    found = {path: read_manifest(Artifacts(path).manifest) for path in files}
    manifests = {path: one for path, one in found.items() if one is not None and "config_sha256" in one}
    _one_run(manifests)
    shards = {path: parse_shard(one["shard"]) for path, one in manifests.items() if isinstance(one.get("shard"), str)}
    if len(shards) < len(files):
        return Parts(files=tuple(files), manifests=manifests)
    _one_cut(shards)
    of = next(iter(shards.values())).of
    missing = [Shard(number=number, of=of) for number in range(1, of + 1)]
    missing = [shard for shard in missing if shard not in shards.values()]
    whole = next(iter(manifests.values())).get("whole")
    tasks = [_task(entry) for entry in whole] if isinstance(whole, list) else []
    absent = tuple(
        task
        for position, task in enumerate(tasks)
        if task is not None and any(shard.takes(position) for shard in missing)
    )
    return Parts(files=tuple(files), manifests=manifests, missing=tuple(map(str, missing)), absent=absent)


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


def _one_cut(shards: Mapping[Path, Shard]) -> None:
    first = next(iter(shards))
    for path, shard in shards.items():
        if shard.of != shards[first].of:
            raise RequestError(
                f"{path} is shard {shard} and {first} is shard {shards[first]}: parts of different cuts",
                hint="shards of one run are all I/N with the same N",
            )


def merge_sidecars(parts: Parts, output: Path) -> None:
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


def _merged(parts: Parts, inputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
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
        "started_at": min(str(one.get("started_at")) for one in manifests),
        "ended_at": max(str(one) for one in ended) if all(ended) and not parts.missing else None,
    }
    return {**whole, "config_sha256": fingerprint(whole)}
