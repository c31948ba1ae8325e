"""Values of a row under their foreign names: what is there, in which type, and what can be made of it."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from blade.ingest.decode import decode_any, encode

_NULLS = (msgspec.Raw(b"null"), b"null")
_LONGEST_NULL = 4

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
