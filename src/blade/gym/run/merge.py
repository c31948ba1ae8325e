"""Inputs, failures and manifest of merged shards, so that the whole is a run like one that was never cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blade.gym.run.artifacts import Artifacts, write_document, write_rows
from blade.gym.run.manifest import differences, fingerprint, task_names
from blade.gym.run.resume import key_of, rows_of


def merge_sidecars(shards: Sequence[Path], output: Path) -> str | None:
    """Write what stands beside the merged rollouts; gives why not, where that cannot be done.

    Nothing is written and nothing said where a shard has no manifest: it is not of a run of ours.
    """
    parts, whole = [Artifacts(path) for path in shards], Artifacts(output)
    if not all(part.manifest.is_file() and part.inputs.is_file() for part in parts) or whole.rollouts in shards:
        return None
    manifests = [_read(part.manifest) for part in parts]
    for path, one in zip(shards, manifests, strict=True):
        changed = differences({**manifests[0], "shard": None}, {**one, "shard": None})
        if changed:
            return f"{path} is of another run than {shards[0]}: {'; '.join(changed[:3])}; no manifest is written"
    inputs = sorted((row for part in parts for row in rows_of(part.inputs)), key=key_of)
    write_rows(whole.inputs, inputs)
    write_rows(whole.failures, [row for part in parts for row in rows_of(part.failures)])
    write_document(whole.manifest, _merged(manifests, inputs, shards))
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def _merged(
    manifests: Sequence[dict[str, Any]], inputs: Sequence[dict[str, Any]], shards: Sequence[Path]
) -> dict[str, Any]:
    ended = [one.get("ended_at") for one in manifests]
    kept = {name: value for name, value in manifests[0].items() if name != "counts"}
    whole = {
        **kept,
        "task_ids": task_names(inputs),
        "shard": None,
        "shards": [path.name for path in shards],
        "started_at": min(str(one.get("started_at")) for one in manifests),
        "ended_at": max(str(one) for one in ended) if all(ended) else None,
    }
    return {**whole, "config_sha256": fingerprint(whole)}
