"""Small values of rows that may turn out to be slices: what no other field of ours is read from, and no verdict."""

from __future__ import annotations

from functools import cache, lru_cache

from blade.ingest import fields
from blade.ingest.batch import Batch
from blade.ingest.columns import Column, any_there
from blade.ingest.decode import decode_any, encode
from blade.ingest.fingerprints import Memo
from blade.ingest.row_table import EXTRA

LONGEST_EXTRA = 48
LARGEST_METADATA = 4096
_NO_SCALAR = b"{[n"

_TAKEN = frozenset(
    path.split(".")[0] for field in fields.TABLE for path in field.paths if path not in fields.KNOWN_SLICES
) | {"seed", "agent_ref", "skills_ref", "usage", "created_at", "created", "timestamp"}


class Extras:
    """Reads them from the batches of one artifact."""

    def __init__(self) -> None:
        self._small = Memo(_small)
        self._inside = Memo(_metadata_extras)

    def columns(self, batch: Batch) -> dict[str, Column]:
        """Small values that may turn out to be slices, as JSON text."""
        plain, nested = _slice_names(tuple(batch.columns))
        found: dict[str, Column] = {EXTRA + name: self._small.column(batch.columns[name]) for name in plain}
        for name in nested:
            inside = [texts or {} for texts in self._inside.column(batch.columns[name])]
            for key in dict.fromkeys(key for texts in inside for key in texts):
                found[f"{EXTRA}{name}.{key}"] = [texts.get(key) for texts in inside]
        return {name: column for name, column in found.items() if any_there(column)}


def _small(raw: bytes) -> str | None:
    return str(raw, "utf-8") if len(raw) <= LONGEST_EXTRA and raw[0] not in _NO_SCALAR else None


@cache
def _may_be_slice(name: str) -> bool:
    return name not in _TAKEN and not name.startswith("_") and not fields.is_verdict(name)


@lru_cache(maxsize=4096)
def _slice_names(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the fields of rows: those that may become slices, and objects whose fields may."""
    plain = tuple(name for name in names if name not in fields.METADATA_NAMES and _may_be_slice(name))
    return plain, tuple(name for name in names if name in fields.METADATA_NAMES)


def _metadata_extras(raw: bytes) -> dict[str, str]:
    value = decode_any(raw) if len(raw) <= LARGEST_METADATA else None
    if not isinstance(value, dict):
        return {}
    small = {key: item for key, item in value.items() if isinstance(item, str | int | float) and _may_be_slice(key)}
    texts = {key: bytes(encode(item)).decode() for key, item in small.items() if key not in fields.ID_NAMES}
    return {key: text for key, text in texts.items() if len(text) <= LONGEST_EXTRA}
