"""Lines with `[redacted: RULE]` in place of what was found: JSON stays JSON, with the same keys in the same order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from blade.package.sanitize.files import Item, Kind
from blade.package.sanitize.scan import Hit

_ROUNDS = 4
"""What is left of a line may look like something else; after so many rounds whole strings go."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_REST_OF_KEY = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"\s*:')
_LONGEST_KEY = 400
_YAML_VALUE = re.compile(rb"(?P<head>\s*+(?:- +)*+(?:[\w.-]+: +)?+)(?P<value>[^\s\"'|>&*!#{].*?)\s*", re.DOTALL)
_MARKER = b"[redacted: "


def marker(rule: str, number: int = 1) -> bytes:
    """What stands in place of a value; keys of one line are told apart by a number."""
    return f"[redacted: {rule}]".encode() if number == 1 else f"[redacted: {rule} {number}]".encode()


def redacted(line: bytes, hits: Sequence[Hit], item: Item, look: Callable[[bytes], Sequence[Hit]]) -> bytes:
    """The line without what was found, in which `look` finds nothing."""
    rounds = 0
    while hits:
        rounds += 1
        line = _replaced(line, hits, item.kind, everything=rounds > _ROUNDS)
        hits = look(line) if rounds <= _ROUNDS else ()
    return _quoted(line) if item.is_yaml else line


def _replaced(line: bytes, hits: Sequence[Hit], kind: Kind, *, everything: bool) -> bytes:
    pieces: list[bytes] = []
    at = 0
    numbers: dict[tuple[str, bytes], int] = {}
    for start, end, rule in _spans(line, hits, kind, everything):
        number = 1
        if kind is Kind.JSON and _in_key(line, end):
            key = (rule, line[start:end])
            same = sum(1 for name, _ in numbers if name == rule)
            number = numbers.setdefault(key, same + 1)
        pieces += (line[at:start], marker(rule, number))
        at = end
    return b"".join((*pieces, line[at:]))


def _spans(line: bytes, hits: Sequence[Hit], kind: Kind, everything: bool) -> list[tuple[int, int, str]]:
    """Where to cut, without overlaps: what overlaps is one span, named after its first rule."""
    cuts: list[tuple[int, int, str]] = []
    for hit in hits:
        start, end = hit.start, hit.end
        if everything or hit.rule.whole:
            start, end = _around(line, start, end, kind)
        if cuts and start < cuts[-1][1]:
            before = cuts[-1]
            cuts[-1] = (min(before[0], start), max(before[1], end), before[2])
        else:
            cuts.append((start, end, hit.rule.name))
    return cuts


def _around(line: bytes, start: int, end: int, kind: Kind) -> tuple[int, int]:
    """The string of a row, or the line."""
    if kind is not Kind.JSON:
        return len(line) - len(line.lstrip()), len(line.rstrip())
    inside = (one for one in _STRING.finditer(line) if one.start() < start and end < one.end())
    string = next(inside, None)
    return (string.start() + 1, string.end() - 1) if string else (start, end)


def _in_key(line: bytes, end: int) -> bool:
    return _REST_OF_KEY.match(line[end : end + _LONGEST_KEY]) is not None


def _quoted(line: bytes) -> bytes:
    """A plain scalar with a marker in it would be read as a list or a mapping: it gets quotation marks."""
    match = _YAML_VALUE.fullmatch(line)
    if match is None or _MARKER not in match["value"]:
        return line
    value = json.dumps(match["value"].decode("utf-8", "replace"), ensure_ascii=False).encode()
    return match["head"] + value + line[match.end("value") :]
