"""Metrics of rows that a server was sent, without a file: what `/aggregate_metrics` answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blade.ingest.decode import Unusable
from blade.model.errors import RequestError
from blade_gym.profile.aggregate import entry_of
from blade_gym.profile.rows import NAMELESS, REPEAT, TASK, GymRow, row_of


def metrics_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`agent_metrics`, `key_metrics` and `group_level_metrics` of the rows, whatever agent they name; empty for none.

    Rows without an index of their rollout are numbered within their task. Raises for rows without a task, and for two
    rows of one rollout.
    """
    if not rows:
        return {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}
    read = sorted(_read(rows), key=lambda row: row.key)
    twins = [key for key, count in Counter(row.key for row in read).items() if count > 1]
    if twins:
        raise RequestError(f"two rows are task {twins[0][0]}, rollout {twins[0][1]}", hint="send each rollout once")
    entry = entry_of(NAMELESS, read)
    return {name: entry[name] for name in ("group_level_metrics", "agent_metrics", "key_metrics")}


def _read(rows: Sequence[Mapping[str, Any]]) -> list[GymRow]:
    seen: Counter[Any] = Counter()
    found = []
    for number, row in enumerate(rows):
        task = str(row.get(TASK))
        numbered = row if row.get(REPEAT) is not None else {**row, REPEAT: seen[task]}
        seen[task] += 1
        try:
            found.append(row_of(msgspec.json.encode(numbered), number))
        except Unusable as error:
            raise RequestError(f"row {number}: {error}", hint="rows are those of /verify, with their indices") from None
    return found
