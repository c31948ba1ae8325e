"""Values that cross the sandbox's wall: written as JSON that keeps their types, read back as plain values.

Whatever a program returns comes back as data. A list, a number or a string is the same on the other side, with none of
the methods that the program may have given it; an object of the program's own is only a name for it (`Reference`).
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

DEEPEST = 150
"""Lists within lists; Python's own reader of JSON stops at about a thousand."""
MOST = 2_000_000
"""Values inside one value."""
MOST_FIELDS = 200
"""Of a named tuple, whose class is made anew on the other side."""
_LONG_INT = 1 << 4096
"""From here on as hexadecimal: reading decimals takes time that grows with the square of their length."""


class Reference:
    """An object that stays where it is; equal to nothing but itself."""

    def __init__(self, number: int, shown: str, kind: str = "object") -> None:
        self.number = number
        self.shown = shown
        self.kind = kind
        """`class`, `iterator` or `object`."""

    def __repr__(self) -> str:
        return self.shown


class NotPlain(ValueError):
    """A value that cannot cross: too large, too deep, or not written as one."""


Keep = Callable[[Any], int]
"""Where an object stays behind; gives its number."""


class _Writer:
    def __init__(self, keep: Keep | None) -> None:
        self.keep, self.left = keep, MOST

    def write(self, value: Any, depth: int = 0) -> Any:
        self.left -= 1
        if depth > DEEPEST or self.left < 0:
            raise NotPlain("the value is nested too deep" if depth > DEEPEST else "the value is too large")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            whole = int.__index__(value)
            return {"int": hex(whole)} if abs(whole) >= _LONG_INT else whole
        if isinstance(value, float):
            number = float.__float__(value)
            return number if math.isfinite(number) else {"float": repr(number)}
        return self._collection(value, depth + 1)

    def _collection(self, value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return self._all(value, depth)
        fields = getattr(type(value), "_fields", None)
        if isinstance(value, tuple) and isinstance(fields, tuple):
            names = [str(field) for field in fields]
            return {"namedtuple": [type(value).__name__, names, self._all(tuple.__iter__(value), depth)]}
        for name, kind in _SEQUENCES.items():
            if isinstance(value, kind):
                return {name: self._all(iter(value), depth)}
        if isinstance(value, dict):
            name = next((name for name, kind in _MAPPINGS.items() if isinstance(value, kind)), "dict")
            return {name: [[self.write(key, depth), self.write(inner, depth)] for key, inner in value.items()]}
        if isinstance(value, bytes | bytearray):
            return {type(value).__mro__[-2].__name__: value.hex()}
        for name, (kind, parts, _) in _PARTS.items():
            if type(value) is kind:
                return {name: list(parts(value))}
        return self._foreign(value, depth)

    def _all(self, values: Iterable[Any], depth: int) -> list[Any]:
        return [self.write(inner, depth) for inner in values]

    def _foreign(self, value: Any, depth: int) -> Any:
        if isinstance(value, Reference):
            return {"reference": [value.number, value.shown[:200], value.kind]}
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            plain = value.tolist()
            return self.write(plain, depth) if not getattr(value, "shape", ()) else {"array": self.write(plain, depth)}
        if self.keep is None:
            raise NotPlain(f"a {type(value).__name__} is no plain value")
        kind = "class" if isinstance(value, type) else "iterator" if isinstance(value, Iterator) else "object"
        return {"reference": [self.keep(value), f"<{type(value).__name__} object>"[:200], kind]}


_MAPPINGS: dict[str, type[dict[Any, Any]]] = {"Counter": Counter, "OrderedDict": OrderedDict}
_SEQUENCES: dict[str, type[Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset, "deque": deque}
_PARTS: dict[str, tuple[type, Callable[[Any], Iterable[Any]], Callable[..., Any]]] = {
    "range": (range, lambda value: (value.start, value.stop, value.step), range),
    "complex": (complex, lambda value: (repr(value.real), repr(value.imag)), lambda a, b: complex(float(a), float(b))),
    "Decimal": (Decimal, lambda value: (str(value),), lambda text: Decimal(text[:5000])),
    "Fraction": (Fraction, lambda value: (value.numerator, value.denominator), Fraction),
    "datetime": (datetime, lambda value: (value.isoformat(),), datetime.fromisoformat),
    "date": (date, lambda value: (value.isoformat(),), date.fromisoformat),
    "time": (time, lambda value: (value.isoformat(),), time.fromisoformat),
    "timedelta": (timedelta, lambda value: (value.days, value.seconds, value.microseconds), timedelta),
}


def written(value: Any, keep: Keep | None = None) -> Any:
    """The value as JSON; without `keep`, raises NotPlain for an object that is no plain value."""
    return _Writer(keep).write(value)


Known = Callable[[Reference], Any]
"""What stands for a reference on this side."""


def read(value: Any, known: Known = lambda reference: reference) -> Any:
    """The value that JSON stands for; raises NotPlain where it stands for none."""
    return _read(value, known, 0)


def _read(value: Any, known: Known, depth: int) -> Any:
    if depth > DEEPEST:
        raise NotPlain("the value is nested too deep")
    if isinstance(value, list):
        return [_read(inner, known, depth + 1) for inner in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise NotPlain("no value is written like this")
    [(name, inner)] = value.items()
    try:
        return _tagged(name, inner, known, depth + 1)
    except (TypeError, ValueError, ArithmeticError, LookupError) as problem:
        raise NotPlain(f"no {name} is written like this: {problem}") from None


def _tagged(name: str, inner: Any, known: Known, depth: int) -> Any:
    if name in _SEQUENCES:
        return _SEQUENCES[name](_read(one, known, depth) for one in inner)
    if name == "dict" or name in _MAPPINGS:
        return _MAPPINGS.get(name, dict)({_read(key, known, depth): _read(one, known, depth) for key, one in inner})
    if name == "namedtuple":
        kind, fields, values = inner
        return namedtuple(kind, fields[:MOST_FIELDS])(*(_read(one, known, depth) for one in values))
    if name == "int":
        return int(inner, 16)
    if name == "float":
        return float(inner)
    if name in ("bytes", "bytearray"):
        return (bytes if name == "bytes" else bytearray).fromhex(inner)
    if name == "array":
        return _array(_read(inner, known, depth))
    if name == "reference":
        number, shown, kind = inner
        return known(Reference(int(number), str(shown), str(kind)))
    return _PARTS[name][2](*(_read(one, known, depth) for one in inner))


def _array(plain: Any) -> Any:
    """An array where numpy is at hand; a list behaves otherwise when it is compared, so it is no stand-in."""
    try:
        import numpy as np
    except ImportError:
        return Reference(0, "<array>")
    return np.array(plain)
