r"""One search over raw bytes for the phrases of all rules.

Trajectories reach the engine as JSON, so a phrase is loosened before it is searched for: whatever it would match in
decoded text, the loosened pattern matches in the bytes, and sometimes it matches where the phrase would not. A hit
only opens a rule's gate; the rule confirms on decoded text, with `any_of`.

A phrase may use literals, `.`, `\s \d \w` and their opposites, `\b ^ $`, groups, alternatives, classes and
quantifiers, in ASCII, and ignores case. It is looked for inside one string of the artifact: text that is joined from
several parts has no bytes of its own.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Collection, Sequence

FLAGS = re.IGNORECASE | re.ASCII

Search = Callable[[bytes], Collection[int]]
"""Numbers of the rules whose phrases may be in the bytes."""

_ANY = r"(?:[\x00-\xff]|[\xc0-\xff][\x80-\xbf]{1,3}|\\[\x00-\xff]|\\u[0-9a-f]{4}(?:\\u[0-9a-f]{4})?)"
"""One decoded character in any form: a byte, a UTF-8 sequence, an escape, a pair of surrogates."""
_SPACE = r"(?:[\s\x0b]|\\+[nrtf])"
_ANCHORS = "bBAZ"
_CONTROLS = "nrtf"
_KEPT = {"s": _SPACE, "d": r"\d", "w": r"\w", "S": _ANY, "D": _ANY, "W": _ANY, "\\": r"\\+"}
_ESCAPED_IN_JSON = '"\\/' + "".join(map(chr, range(32)))
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_UNREADABLE = r"\\u00(?:0[9a-d]|[2-7])"
"""An escape may hide a letter, a sign or white space of a phrase: such bytes open every gate. The control characters that
colour a log are none of these."""
_MEMORY = 64 << 20


def any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    """The pattern that a rule confirms its phrases with, on decoded text."""
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases), FLAGS)


def search_for(phrases: Sequence[tuple[int, Sequence[str]]]) -> Search | None:
    """One search for the phrases of all rules, each given with its rule's number; None when google-re2 is not there."""
    loosened = [(number, loosen(phrase)) for number, several in phrases for phrase in several]
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.max_mem = _MEMORY
    patterns = re2.Set.SearchSet(options)
    for pattern in (_UNREADABLE, *(pattern for _, pattern in loosened)):
        patterns.Add(pattern.encode("ascii"))
    patterns.Compile()
    owners = (-1, *(number for number, _ in loosened))
    everybody = frozenset(owners[1:])
    nobody: frozenset[int] = frozenset()
    match: Callable[[bytes], list[int] | None] = patterns.Match

    def search(raw: bytes) -> Collection[int]:
        found = match(raw)
        if found is None:
            return nobody
        return everybody if 0 in found else {owners[place] for place in found}

    return search


def loosen(phrase: str) -> str:
    """A pattern for JSON bytes that matches wherever `phrase` matches the text; ValueError when it cannot be made."""
    re.compile(phrase, FLAGS)
    if not phrase.isascii():
        raise ValueError(f"phrase {phrase!r}: non-ASCII characters have several forms in JSON; write `.`")
    pieces = []
    place = 0
    while place < len(phrase):
        piece, place = _loosen_at(phrase, place)
        pieces.append(piece)
    return "".join(pieces)


def _loosen_at(phrase: str, place: int) -> tuple[str, int]:
    char = phrase[place]
    if char == "\\":
        return _loosen_escape(phrase, phrase[place + 1]), place + 2
    if char == "[":
        return _loosen_class(phrase, place)
    if char == "(" and phrase.startswith("(?", place):
        if not phrase.startswith("(?:", place):
            raise ValueError(f"phrase {phrase!r}: of the groups that open with (? only (?: can be used")
        return "(?:", place + 3
    if char == ".":
        return _ANY, place + 1
    if char in "^$":
        return "", place + 1
    return char if char in "()|*+?{}," else _literal(char), place + 1


def _loosen_escape(phrase: str, char: str) -> str:
    if char in _ANCHORS:
        return ""
    if char in _KEPT:
        return _KEPT[char]
    if char in _CONTROLS:
        return rf"(?:\{char}|\\+{char})"
    if char.isalnum():
        raise ValueError(f"phrase {phrase!r}: \\{char} cannot be searched for in bytes")
    return _literal(char)


def _loosen_class(phrase: str, place: int) -> tuple[str, int]:
    """A class stays as it is unless it takes in something that JSON escapes, or anything outside ASCII."""
    found = _CLASS.match(phrase, place)
    if found is None:
        raise ValueError(f"phrase {phrase!r}: a class without an end")
    members = re.compile(found[0], FLAGS)
    wide = any(members.match(char) for char in (*_ESCAPED_IN_JSON, "\x7f", "\x80", "\u2019"))
    return (_ANY if wide else found[0]), found.end()


def _literal(char: str) -> str:
    if char < " " and char not in "\t\n\v\f\r":
        return _ANY
    escapes = r"\\*" if char in _ESCAPED_IN_JSON else ""
    return escapes + (char if char.isalnum() or char in " _" else f"\\x{ord(char):02x}")
