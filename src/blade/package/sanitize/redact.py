"""Lines with `[redacted: RULE]` in place of what was found: JSON stays JSON, with the same keys in the same order."""

from __future__ import annotations

import bisect
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


def redacted(line: bytes, hits: Sequence[Hit], item: Item, look: Callable[[bytes, Item], Sequence[Hit]]) -> bytes:
    """The line without what was found, in which `look` finds nothing."""
    rounds = 0
    while hits:
        rounds += 1
        line = _replaced(line, hits, item.kind, everything=rounds > _ROUNDS)
        hits = look(line, item) if rounds <= _ROUNDS else ()
    return _quoted(line) if item.is_yaml else line


def _replaced(line: bytes, hits: Sequence[Hit], kind: Kind, *, everything: bool) -> bytes:
    pieces: list[bytes] = []
    at = 0
    numbers: dict[str, dict[bytes, int]] = {}
    for start, end, rule in _spans(line, hits, kind, everything):
        number = 1
        if kind is Kind.JSON and _in_key(line, end):
            keys = numbers.setdefault(rule, {})
            number = keys.setdefault(line[start:end], len(keys) + 1)
        pieces += (line[at:start], marker(rule, number))
        at = end
    return b"".join((*pieces, line[at:]))


def _spans(line: bytes, hits: Sequence[Hit], kind: Kind, everything: bool) -> list[tuple[int, int, str]]:
    """Where to cut, without overlaps: what overlaps is one span, named after its first rule."""
    wide = [everything or hit.rule.whole for hit in hits]
    wholes = _wholes(line, kind) if any(wide) else []
    cuts = [
        (*(_around(wholes, hit) if is_wide else (hit.start, hit.end)), hit.rule.name)
        for hit, is_wide in zip(hits, wide, strict=True)
    ]
    return _joined(cuts)


def _joined(cuts: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    joined: list[tuple[int, int, str]] = []
    for start, end, rule in cuts:
        first, last, name = start, end, rule
        while joined and first < joined[-1][1]:
            left, right, name = joined.pop()
            first, last = min(left, first), max(right, last)
        joined.append((first, last, name))
    return joined


def _wholes(line: bytes, kind: Kind) -> list[tuple[int, int]]:
    """The insides of the strings of a row; the line without its margins, where it is text."""
    if kind is Kind.JSON:
        return [(one.start() + 1, one.end() - 1) for one in _STRING.finditer(line)]
    return [(len(line) - len(line.lstrip()), len(line.rstrip()))]


def _around(wholes: list[tuple[int, int]], hit: Hit) -> tuple[int, int]:
    """What a hit stands in; the hit itself, where the row is not JSON."""
    place = bisect.bisect_right(wholes, hit.start, key=lambda one: one[0]) - 1
    start, end = wholes[place] if place >= 0 else (hit.start, hit.end)
    return (start, end) if start <= hit.start and hit.end <= end else (hit.start, hit.end)


def _in_key(line: bytes, end: int) -> bool:
    return _REST_OF_KEY.match(line[end : end + _LONGEST_KEY]) is not None


def _quoted(line: bytes) -> bytes:
    """A plain scalar with a marker in it would be read as a list or a mapping: it gets quotation marks."""
    match = _YAML_VALUE.fullmatch(line)
    if match is None or _MARKER not in match["value"]:
        return line
    value = json.dumps(match["value"].decode("utf-8", "replace"), ensure_ascii=False).encode()
    return match["head"] + value + line[match.end("value") :]
