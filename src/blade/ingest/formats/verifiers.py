"""Environments of the verifiers library run by NeMo Gym: what the reward is made of stands inside the response."""

from __future__ import annotations

from typing import Any

import msgspec

from blade.ingest.decode import BAD_VALUE, Row, encode
from blade.ingest.formats import FileHead, Format
from blade.model.pattern import pattern_of

_OBJECT = ord("{")
_COMPONENTS = "reward_components"
_FEWEST = 2
"""A single grade is the reward again."""
_NO_GRADE = pattern_of(r"(?:num|total)_\w+|\w+_(?:calls|turns|tokens|count)|reward|score")
"""Names of amounts, and of the whole reward."""


class _Response(msgspec.Struct):
    """What the library adds to a response."""

    env_id: Any = None
    metrics: Any = None


_response = msgspec.json.Decoder(_Response)


def recognizes(head: FileHead) -> bool:
    """Some response names its environment and holds metrics."""
    return any(_metrics(row) for row in head.rows)


def as_row(row: Row) -> Row:
    """The row with the grades among its metrics as parts of the reward; a row that has parts keeps its own."""
    grades = {name: value for name, value in _metrics(row).items() if _is_grade(name, value)}
    return row if _COMPONENTS in row or len(grades) < _FEWEST else {**row, _COMPONENTS: msgspec.Raw(encode(grades))}


def _metrics(row: Row) -> dict[str, Any]:
    raw = row.get("response")
    if raw is None or memoryview(raw)[0] != _OBJECT:
        return {}
    try:
        found = _response.decode(raw)
    except (*BAD_VALUE, RecursionError):
        return {}
    return found.metrics if found.env_id is not None and isinstance(found.metrics, dict) else {}


def _is_grade(name: str, value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1 and not _NO_GRADE.fullmatch(name)


FORMAT = Format(
    name="verifiers",
    order=15,
    recognizes=recognizes,
    as_row=as_row,
    splittable=True,
)
