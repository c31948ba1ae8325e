"""Values of a row under their foreign names: what is there, in which type, and what can be made of it.

Of one value (`integer`), and of a column of many rows (`integers`): a column that needs no change, as most do, is
handed back as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import urandom
from typing import Any, Generic, TypeVar

import msgspec
from xxhash import xxh3_128_digest

from blade.ingest.decode import decode_any, encode

T = TypeVar("T")
Column = Sequence[Any]
"""One field of each row: raw JSON, but the request and the response decoded; None where the row does not have it."""
Make = Callable[[Column], Sequence[T | None]]
"""What is made of a column of values."""

_NULLS = (msgspec.Raw(b"null"), b"null")
_LONGEST_NULL = 4

_MOST_KNOWN = 4096
_MOST_BYTES = 8 << 20
"""Of raw values of which something is known: what is made of them may be as large."""
_SEED = int.from_bytes(urandom(8))
"""Nobody can write rows whose marks are the same in this process and whose values are not."""

LARGEST = 1e15
"""Beyond this sums lose whole units, and squares overflow."""
LARGEST_INTEGER = (1 << 30) - 1
LARGEST_COUNT = (1 << 62) - 1


def has(found: bytes | msgspec.Raw | list[Any] | None) -> bool:
    """Whether a raw value is there and is not null; one that is decoded already is."""
    if found is None:
        return False
    size = len(found)
    return size > _LONGEST_NULL or type(found) is list or (size > 0 and found not in _NULLS)


def integer(found: object) -> int | None:
    """A small whole number, also as `3.0` or `"3"`; None for anything else."""
    if type(found) is int:
        return found if 0 <= found <= LARGEST_INTEGER else None
    if isinstance(found, bool):
        return None
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, str) and found.isdecimal() and len(found) < 10:
        found = int(found)
    return found if isinstance(found, int) and 0 <= found <= LARGEST_INTEGER else None


def count(found: object) -> int | None:
    """A number of things."""
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= LARGEST_COUNT else None


def number(found: object) -> float | None:
    """A finite number; a boolean is none."""
    if found is None:
        return None
    value = finite(found) if not isinstance(found, bool) else None
    return value if value is None or abs(value) <= LARGEST else None


def average(found: object) -> float | None:
    """A finite number that can be averaged, booleans as 0 and 1."""
    value = finite(found)
    return value if value is not None and abs(value) <= LARGEST else None


def finite(found: object) -> float | None:
    """A finite number, booleans as 0 and 1; None for anything else, and for integers that no float can hold."""
    if not isinstance(found, int | float):
        return None
    try:
        return float(found) if math.isfinite(found) else None
    except OverflowError:
        return None


def text(found: object) -> str | None:
    """A text with anything in it."""
    return found if isinstance(found, str) and found else None


def name_text(found: object) -> str | None:
    """A text or whole number that can name something, or an object's `name`; a blank, a fraction or a boolean cannot."""
    if isinstance(found, dict):
        found = found.get("name")
    if isinstance(found, str):
        return found if found.strip() else None
    if isinstance(found, float) and found.is_integer() and abs(found) < 1 << 53:
        found = int(found)
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else None


def as_text(found: object) -> str:
    """A text as it is, anything else as JSON."""
    return found if isinstance(found, str) else bytes(encode(found)).decode()


def shown(found: object) -> str:
    """A value as a person may see it in a sentence."""
    whole = bytes(encode(found)).decode() if not isinstance(found, int) or abs(found) < 1 << 63 else "a huge number"
    return whole if len(whole) <= 40 else whole[:37] + "..."


def inside(raw: bytes | msgspec.Raw, name: str) -> str | None:
    """A text inside an object."""
    found = decode_any(raw)
    return text(found.get(name)) if isinstance(found, dict) else None


def any_there(values: Column) -> bool:
    """Whether any of the values is not None."""
    return bool(values) and (values[0] is not None or values.count(None) < len(values))


def each(make: Callable[[Any], T | None]) -> Make[T]:
    """Makes something of every value that is there."""
    return lambda values: [None if value is None else make(value) for value in values]


def integers(values: Column) -> Sequence[int | None]:
    """Small whole numbers."""
    return values if _all_within(int, values, 0, LARGEST_INTEGER) else _integers(values)


def counts(values: Column) -> Sequence[int | None]:
    """Numbers of things."""
    return values if _all_within(int, values, 0, LARGEST_COUNT) else _counts(values)


def averages(values: Column) -> Sequence[float | None]:
    """Finite numbers that can be averaged, booleans as 0 and 1."""
    fine = _all_within(float, values, -LARGEST, LARGEST) and all(map(math.isfinite, values))
    return values if fine else _averages(values)


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


_integers = each(integer)
_counts = each(count)
_averages = each(average)
_numbers = each(number)
_texts = each(text)
_names = each(name_text)
_as_texts = each(as_text)


def _all_are(kind: type, values: Column) -> bool:
    return set(map(type, values)) == {kind}


def _all_within(kind: type, values: Column, least: float, most: float) -> bool:
    return _all_are(kind, values) and min(values) >= least and max(values) <= most


def raw_marks(raws: Column) -> list[bytes]:
    """What tells raw values apart within this process, by which they are found sooner than by what they hold."""
    return [b"" if raw is None else xxh3_128_digest(raw, _SEED) for raw in raws]


class Memo(Generic[T]):
    """What is made of raw values; the rows of a run repeat theirs, so each is worked out once."""

    def __init__(self, make: Callable[[bytes], T | None]) -> None:
        self._make = make
        self._known: dict[bytes, T | None] = {}
        self._size = 0

    def column(self, raws: Column) -> list[T | None]:
        """What is made of each of them; None of what is absent."""
        if len(raws) > 1 and raws[0] == raws[-1] and raws.count(raws[0]) == len(raws):
            return self.column(raws[:1]) * len(raws)
        keys = raw_marks(raws)
        if not self._known.keys() >= set(keys):
            self._learn(dict(zip(keys, raws, strict=True)))
        known = self._known
        return [known[key] for key in keys]

    def _learn(self, wanted: Mapping[bytes, bytes | msgspec.Raw | None]) -> None:
        if len(self._known) >= _MOST_KNOWN or self._size > _MOST_BYTES:
            self._known.clear()
            self._size = 0
        for key, raw in wanted.items():
            if key not in self._known:
                self._known[key] = None if raw is None else self._make(bytes(raw))
                self._size += 0 if raw is None else len(raw)
