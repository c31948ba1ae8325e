"""Rows without a reward or a score whose verdict stands under another name: `is_correct`, `passed`, `resolved`."""

from __future__ import annotations

from typing import Any

import msgspec

from blade.ingest import cells, fields
from blade.ingest.decode import BAD_VALUE, Row, decode_any, encode
from blade.ingest.formats import FileHead, Format

_REWARDS = fields.BY_NAME["reward"].paths
_HANDED_IN = frozenset(
    path.partition(".")[0] for name in ("trajectory", "answer") for path in fields.BY_NAME[name].paths
) - {"answer"}
"""Fields that only an agent fills. Without one of them `correct` may be the choice that a question wants."""


def recognizes(head: FileHead) -> bool:
    """No row has a reward or a score, and some row has a verdict under another name."""
    return not any(name in row for row in head.rows for name in _REWARDS) and any(map(_is_judged, head.rows))


def as_row(row: Row) -> Row:
    """The row with its verdict as the reward, null where it has none; one that has a reward, though it be null, keeps it."""
    if any(name in row for name in _REWARDS):
        return row
    verdict = _verdict(row)
    unjudged = verdict is None and _HANDED_IN.isdisjoint(row)
    return row if unjudged else {**row, "reward": msgspec.Raw(encode(verdict))}


def _is_judged(row: Row) -> bool:
    try:
        return _verdict(row) is not None
    except (*BAD_VALUE, RecursionError):
        return False


def _verdict(row: Row) -> float | None:
    paths = fields.NESTED_REWARDS if _HANDED_IN.isdisjoint(row) else (*fields.NESTED_REWARDS, *fields.VERDICTS)
    found = (cells.finite(_at(row, path)) for path in paths if path.partition(".")[0] in row)
    return next((value for value in found if value is not None), None)


def _at(row: Row, path: str) -> Any:
    top, *rest = path.split(".")
    value = decode_any(row[top])
    for name in rest:
        value = value.get(name) if isinstance(value, dict) else None
    return value


FORMAT = Format(
    name="verdict",
    order=80,
    recognizes=recognizes,
    as_row=as_row,
)
