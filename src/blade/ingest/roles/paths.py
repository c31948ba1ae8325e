"""A sample of rows by field path: the values of each path in order of the rows, containers as well as what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

DEEPEST = 6
"""Accounts of verifiers nest four or five levels; below that stand data, not fields."""
MOST_KEYS = 60
"""An object with more keys than a person would name holds data under them: it is a map."""
FEWEST_MAP_KEYS = 4
"""Two objects with one key each may differ and still be records."""
MAP_SHARE = 0.5
"""Keys of a record stand in most of its objects, those of a map in few: half is in the middle."""
MOST_ITEMS = 6
"""Items of a list that are looked at: they are alike."""
MOST_PATHS = 2_000
"""Beyond that the rows bring ever new names, and nobody reads a table of them."""

Column = list[Any]
"""The values of a path, one a row; None where a row has none."""


class Sample:
    """Decoded rows and the columns of their paths, in the order in which the rows name them."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows
        self.columns: dict[str, Column] = {}
        for place, row in enumerate(rows):
            self._put_all("", row, place, 1)
        self.maps = {path for path in self.columns if _is_map(self.columns[path])}
        self.columns = {path: column for path, column in self.columns.items() if not self._is_in_map(path)}

    def __len__(self) -> int:
        return len(self.rows)

    def _put(self, path: str, value: Any, place: int, depth: int) -> None:
        if value is None:
            return
        column = self.columns.get(path)
        if column is None:
            if len(self.columns) >= MOST_PATHS:
                return
            column = self.columns[path] = [None] * len(self.rows)
        if column[place] is None:
            column[place] = value
        if depth >= DEEPEST:
            return
        if isinstance(value, dict) and len(value) <= MOST_KEYS:
            self._put_all(f"{path}.", value, place, depth + 1)
        elif isinstance(value, list) and value and isinstance(value[0], dict) and not is_messages(value):
            for item in value[:MOST_ITEMS]:
                if isinstance(item, dict):
                    self._put_all(f"{path}[].", item, place, depth + 2)

    def _put_all(self, before: str, value: Mapping[str, Any], place: int, depth: int) -> None:
        for name, item in value.items():
            if _is_plain(name):
                self._put(before + name, item, place, depth)

    def _is_in_map(self, path: str) -> bool:
        return any(parent in self.maps for parent in parents(path))

    def present(self, path: str) -> int:
        """In how many rows the path has a value."""
        column = self.columns[path]
        return len(column) - column.count(None)

    def of(self, path: str) -> list[Any]:
        """The values that are there."""
        return [value for value in self.columns[path] if value is not None]

    @cached_property
    def scalars(self) -> list[str]:
        """Paths that always hold a text, a number or a truth value, outside of lists."""
        return [
            path
            for path in self.columns
            if "[" not in path and all(isinstance(value, str | int | float) for value in self.of(path))
        ]


def parents(path: str) -> Iterator[str]:
    """The paths of the containers around a path, outermost first."""
    for place, char in enumerate(path):
        if char in ".[":
            yield path[:place]


def _is_plain(name: object) -> bool:
    """Whether a dotted path can have the name in it."""
    return isinstance(name, str) and name != "" and "." not in name and "[" not in name


def _is_map(column: Column) -> bool:
    """Whether objects have keys of their own from row to row, so that the keys are data."""
    objects = [value for value in column if isinstance(value, dict) and value]
    keys = {name for value in objects for name in value}
    if any(len(value) > MOST_KEYS for value in objects):
        return True
    if len(objects) < 2 or len(keys) < FEWEST_MAP_KEYS:
        return False
    return sum(map(len, objects)) <= MAP_SHARE * len(objects) * len(keys)


_SPEAKERS = ("role", "from", "type", "speaker", "name", "source", "author", "sender")
_WORDS = ("content", "value", "text", "output", "arguments", "tool_calls", "summary", "message", "parts")


def is_messages(value: object) -> bool:
    """Whether a list holds messages or items of a trajectory: who speaks, or what it is, and what was said."""
    if not isinstance(value, list) or not value:
        return False
    items = [item for item in value[:MOST_ITEMS] if isinstance(item, dict)]
    if len(items) * 2 < min(len(value), MOST_ITEMS):
        return False
    spoken = [
        item
        for item in items
        if any(isinstance(item.get(name), str) for name in _SPEAKERS[:3]) and any(name in item for name in _WORDS)
    ]
    return len(spoken) * 2 > len(items)


class Fields(Protocol):
    """A row whose fields are decoded when they are asked for, or one that is decoded already."""

    def get(self, name: str, /) -> Any:
        """The value of a top-level field; None where there is none."""
        ...


def at(row: Fields, path: str) -> Any:
    """The value at a dotted path of a row."""
    top, *inside = path.split(".")
    value = row.get(top)
    for name in inside:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
