"""Fields that say the same in every row of a run: settings that nobody has named in advance."""

from __future__ import annotations

import json

import polars as pl

from blade.ingest.fields import KNOWN_SLICES
from blade.ingest.frames import kept
from blade.ingest.row_table import EXTRA
from blade.ingest.slices import label

FEWEST_ROWS = 3
MOST = 24
_OF_THE_TASK = frozenset(KNOWN_SLICES) - {"domain", "split"}


def constants(rows: pl.DataFrame) -> dict[str, str]:
    """By name of the field, as people read it; of rollouts only, and none where they are few."""
    mine = kept(rows, pl.col("role") == "rollouts")
    if mine.height < FEWEST_ROWS:
        return {}
    found = {}
    for column in sorted(name for name in mine.columns if name.startswith(EXTRA)):
        name = column.removeprefix(EXTRA)
        if name in _OF_THE_TASK or mine[column].null_count() or mine[column].n_unique() != 1:
            continue
        value = json.loads(mine[column][0])
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            found[name] = label(value)
    return dict(list(found.items())[:MOST])
