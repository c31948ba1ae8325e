"""Values of a row under their foreign names: what is there, in which type, and what can be made of it."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from blade.ingest.decode import Row, decode_any, encode

_NULL = b"null"
_decode = msgspec.json.Decoder().decode


LARGEST = 1e15
"""Beyond this sums lose whole units, and squares overflow."""


def has(raw: bytes | msgspec.Raw | None) -> bool:
    """Whether a raw value is there and is not null."""
    if raw is None:
        return False
    view = memoryview(raw)
    return len(view) > len(_NULL) or (len(view) > 0 and bytes(view) != _NULL)


def value(row: Row, name: str) -> Any:
    """The value of a field; None when it is absent."""
    raw = row.get(name)
    return None if raw is None else _decode(raw)


def at(row: Row, path: str) -> Any:
    """The value at a dotted path; None when any part of it is absent."""
    top, *rest = path.split(".")
    found = value(row, top)
    for name in rest:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def first(row: Row, paths: tuple[str, ...]) -> Any:
    """The first value, in the order of the paths, that is there and is not null."""
    for path in paths:
        raw = row.get(path)
        if raw is not None:
            found = _decode(raw)
        elif "." in path:
            found = at(row, path)
        else:
            continue
        if found is not None:
            return found
    return None


def first_text(row: Row, paths: tuple[str, ...]) -> str | None:
    """The first of the paths that holds a text with anything in it."""
    return next((found for path in paths if path in row and (found := text(value(row, path)))), None)


def integer(found: object) -> int | None:
    """A small whole number, also as `3.0` or `"3"`; None for anything else."""
    if type(found) is int:
        return found if 0 <= found < 1 << 30 else None
    if isinstance(found, bool):
        return None
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, str) and found.isdecimal() and len(found) < 10:
        found = int(found)
    return found if isinstance(found, int) and 0 <= found < 1 << 30 else None


def count(found: object) -> int | None:
    """A number of things."""
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 62 else None


def number(found: object) -> float | None:
    """A finite number; a boolean is none."""
    if found is None:
        return None
    value = finite(found) if not isinstance(found, bool) else None
    return value if value is None or abs(value) <= LARGEST else None


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
    """A text or whole number that can name something; a blank, a fraction, a boolean or an object cannot."""
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


def inside(raw: msgspec.Raw | None, name: str) -> str | None:
    """A text inside an object."""
    found = None if raw is None else decode_any(raw)
    return text(found.get(name)) if isinstance(found, dict) else None
