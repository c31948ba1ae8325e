"""Values of rules: found by path, compared, added; what is not there compares as false."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import re2
from msgspec import Struct

from blade.model.tools import is_deep


class ValueAt(Struct, frozen=True):
    """A value, and the dotted path at which it stands."""

    value: object
    path: str = ""


def within(value: object, parts: tuple[str, ...], path: str) -> Iterator[ValueAt]:
    """Everything that a path leads to: `*` stands for any member; a number is a place in a list."""
    if not parts:
        if value is not None:
            yield ValueAt(value, path)
        return
    first, rest = parts[0], parts[1:]
    if isinstance(value, str):
        value = parsed(value)
    members: Iterable[tuple[str, object]] = ()
    if isinstance(value, dict):
        members = value.items() if first == "*" else [(first, value[first])] if first in value else ()
    elif isinstance(value, list):
        if first == "*":
            members = ((str(number), member) for number, member in enumerate(value))
        elif first.isdecimal() and int(first) < len(value):
            members = [(first, value[int(first)])]
    for name, member in members:
        yield from within(member, rest, f"{path}.{name}" if path else name)


def parsed(text: str) -> object:
    """The JSON of a text; None when it is none, or nested too deep."""
    begins = text.lstrip()[:1]
    if begins not in ("{", "[") or is_deep(text):
        return None
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def number(value: object) -> float | None:
    """The number that a value is or spells; a time is its seconds since 1970."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return _spelled(value) if isinstance(value, str) and len(value) <= 40 else None


@lru_cache(maxsize=4096)
def _spelled(text: str) -> float | None:
    try:
        return float(text.replace(",", "") if text[:1].isdigit() else text)
    except ValueError:
        pass
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()


def compare(left: object, operator: str, right: object) -> bool:
    """Whether two values that are there compare so; numbers and times by size, texts letter by letter."""
    if operator == "in":
        return isinstance(right, list | tuple) and any(equal(left, member) for member in right)
    if operator == "contains":
        if isinstance(left, list | tuple):
            return any(equal(member, right) for member in left)
        return as_text(right) in (left if isinstance(left, dict) else as_text(left))
    if operator == "matches":
        return pattern(str(right)).search(as_text(left)) is not None
    if operator in ("=", "!="):
        return equal(left, right) is (operator == "=")
    first, second = number(left), number(right)
    if first is None or second is None:
        return False
    return {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}[operator]


def equal(left: object, right: object) -> bool:
    """Equal as they are, or as numbers: `"5"` equals 5."""
    if isinstance(left, bool) or isinstance(right, bool):
        texts = isinstance(left, str | bool) and isinstance(right, str | bool)
        return left is right or (texts and str(left).lower() == str(right).lower())
    if left == right:
        return True
    first, second = number(left), number(right)
    return first is not None and first == second


def as_text(value: object) -> str:
    """A value as the text that a reader sees."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=256)
def pattern(text: str) -> Any:
    """A compiled regular expression of RE2, which takes linear time whatever the text."""
    return re2.compile(text)
