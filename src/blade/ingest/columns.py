"""Cells of many rows at once, each as `cells` has it: a column that needs no change, as most do, is handed back as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, TypeVar

from blade.ingest import cells

T = TypeVar("T")
Column = Sequence[Any]
"""One field of each row: raw JSON, but the request and the response decoded; None where the row does not have it."""
Make = Callable[[Column], Sequence[T | None]]
"""What is made of a column of values."""


def any_there(values: Column) -> bool:
    """Whether any of the values is not None."""
    return bool(values) and (values[0] is not None or values.count(None) < len(values))


def each(make: Callable[[Any], T | None]) -> Make[T]:
    """Makes something of every value that is there."""
    return lambda values: [None if value is None else make(value) for value in values]


def integers(values: Column) -> Sequence[int | None]:
    """Small whole numbers."""
    return values if _all_within(int, values, 0, cells.LARGEST_INTEGER) else _integers(values)


def counts(values: Column) -> Sequence[int | None]:
    """Numbers of things."""
    return values if _all_within(int, values, 0, cells.LARGEST_COUNT) else _counts(values)


def finite(values: Column) -> Sequence[float | None]:
    """Finite numbers that can be averaged, booleans as 0 and 1."""
    fine = _all_within(float, values, -cells.LARGEST, cells.LARGEST) and all(map(isfinite, values))
    return values if fine else _finite(values)


def numbers(values: Column) -> Sequence[float | None]:
    """Finite numbers; a boolean is none."""
    return _numbers(values) if any_there(values) else values


def texts(values: Column) -> Sequence[str | None]:
    """Texts with anything in them."""
    return values if _all_are(str, values) and all(values) else _texts(values)


def names(values: Column) -> Sequence[str | None]:
    """Texts and whole numbers that can name something."""
    return values if _all_are(str, values) and all(map(str.strip, values)) else _names(values)


def as_texts(values: Column) -> Sequence[str | None]:
    """Texts as they are, anything else as JSON."""
    return values if _all_are(str, values) else _as_texts(values)


def cut(values: Sequence[str | None], most: int) -> Sequence[str | None]:
    """Texts with no more than so many characters."""
    if _all_are(str, values) and max(map(len, values)) <= most:  # type: ignore[arg-type]
        return values
    return [None if text is None else text[:most] for text in values]


_integers = each(cells.integer)
_counts = each(cells.count)
_finite = each(cells.average)
_numbers = each(cells.number)
_texts = each(cells.text)
_names = each(cells.name_text)
_as_texts = each(cells.as_text)


def _all_are(kind: type, values: Column) -> bool:
    return set(map(type, values)) == {kind}


def _all_within(kind: type, values: Column, least: float, most: float) -> bool:
    return _all_are(kind, values) and min(values) >= least and max(values) <= most
