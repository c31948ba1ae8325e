r"""Phrases of rules, searched for with google-re2: which rules have one in a text, and where a phrase begins.

The search for all rules at once only opens gates; a rule confirms its phrases step by step, with `any_of`.

A phrase is a pattern that both `re` and google-re2 know. It ignores case, and `^` and `$` stand for the ends of a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

import re2

FLAGS = re.IGNORECASE | re.ASCII

Search = Callable[[str], Collection[int]]
"""Numbers of the rules whose phrases may be in a text."""

_MEMORY = 64 << 20
_CLASS_OR_ESCAPE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
_TOKEN = re.compile(rf"{_CLASS_OR_ESCAPE.pattern}|\(\?<?[=!]|.", re.DOTALL)
_FOLDED = r"\x{17f}\x{212a}"
"""Letters that google-re2 takes for s and k where it ignores case."""
_WIDER = {r"\s": r"\s\x0b", r"\w": r"\w\x{80}-\x{10ffff}", r"\W": rf"\W{_FOLDED}"}
"""Classes that leave something out in google-re2: the vertical tab, letters beyond ASCII, and those two."""


class PhraseSet:
    """What a rule confirms its phrases with, used as a compiled pattern is; each phrase is compiled at its first use.

    google-re2 searches first, without what is asked of the words around a phrase: it takes a twentieth of the time, most
    texts hold no phrase, and of the others most hold one or two.
    """

    def __init__(self, phrases: Sequence[str], flags: re.RegexFlag) -> None:
        self._phrases = tuple(phrases)
        self._flags = flags
        self._of_ascii = bool(flags & re.ASCII)
        self._compiled: dict[int, re.Pattern[str]] = {}

    @cached_property
    def _search(self) -> Search:
        return search_for([(number, [without_lookaround(phrase)]) for number, phrase in enumerate(self._phrases)])

    @cached_property
    def _sure(self) -> frozenset[int]:
        """Phrases that google-re2 finds in ASCII text just where `re` does."""
        return frozenset(number for number, phrase in enumerate(self._phrases) if _is_as_it_is(phrase))

    def _may_be_in(self, text: str) -> Collection[int]:
        if not self._of_ascii and not text.isascii():
            return range(len(self._phrases))
        return self._search(text)

    def _pattern(self, number: int) -> re.Pattern[str]:
        if number not in self._compiled:
            self._compiled[number] = re.compile(self._phrases[number], self._flags)
        return self._compiled[number]

    def is_in(self, text: str) -> bool:
        """Whether any phrase is in a text; where that is ASCII, google-re2 alone can tell of most phrases."""
        candidates = self._may_be_in(text)
        if not candidates:
            return False
        if text.isascii() and not self._sure.isdisjoint(candidates):
            return True
        return any(self._pattern(number).search(text) for number in sorted(candidates))

    def search(self, text: str) -> re.Match[str] | None:
        """The first phrase in a text."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every phrase in a text, in order; where several begin at one place, the one that comes first among the phrases."""
        if self._blind_beyond_ascii or text.isascii():
            return self._confirmed(text)
        return _merged([self._pattern(number) for number in sorted(self._may_be_in(text))], text)

    @cached_property
    def _begins(self) -> Any:
        """What finds where a phrase may begin."""
        return either_of([without_lookaround(phrase) for phrase in self._phrases])

    @cached_property
    def _blind_beyond_ascii(self) -> bool:
        """Whether no phrase tells a letter beyond ASCII from a question mark."""
        return self._of_ascii and all(phrase.isascii() and "[^" not in phrase for phrase in self._phrases)

    def _confirmed(self, text: str) -> Iterator[re.Match[str]]:
        """The phrases at the places where google-re2 sees one begin: the patterns are tried nowhere else."""
        # Each letter is one byte, so that places in it are places in the text.
        data = text.encode("ascii", "replace")
        after = 0
        while after <= len(data) and (seen := self._begins.search(data, after)):
            place = seen.start()
            matches = (self._pattern(number).match(text, place) for number in range(len(self._phrases)))
            match = next(filter(None, matches), None)
            if match is not None:
                yield match
            after = max(match.end() if match else 0, place + 1)


def _merged(patterns: Sequence[re.Pattern[str]], text: str) -> Iterator[re.Match[str]]:
    """What the patterns find as alternatives of one."""
    coming = [(pattern, pattern.search(text)) for pattern in patterns]
    while found := [match for _, match in coming if match is not None]:
        first = min(found, key=re.Match.start)
        yield first
        after = max(first.end(), first.start() + 1)
        coming = [
            (pattern, match if match is None or match.start() >= after else pattern.search(text, after))
            for pattern, match in coming
        ]


def any_of(phrases: Sequence[str], flags: re.RegexFlag = FLAGS) -> PhraseSet:
    """Some phrases as one; without `re.ASCII` among the flags, google-re2 searches ASCII text only."""
    return PhraseSet(phrases, flags)


def _is_as_it_is(phrase: str) -> bool:
    """Whether google-re2 finds in ASCII text just what `re` finds: nothing is asked of what is around, or of ends of lines."""
    return without_lookaround(phrase) == phrase and "^" not in phrase and "$" not in phrase


def without_lookaround(phrase: str) -> str:
    """A phrase that is found wherever the phrase is, and asks nothing of what stands before and behind it."""
    pieces: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(phrase):
        piece = token[0]
        if depth:
            depth += (piece[0] == "(") - (piece == ")")
        elif piece in _LOOKAROUND:
            depth = 1
        else:
            pieces.append(piece)
    return "".join(pieces)


def _options() -> Any:
    """What all searches have in common."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MEMORY
    return options


def either_of(phrases: Sequence[str]) -> Any:
    """The phrases as alternatives of one pattern of google-re2."""
    options = _options()
    options.never_capture = True
    return re2.compile("|".join(f"(?:{in_re2(phrase)})" for phrase in phrases), options)


def search_for(phrases: Sequence[tuple[int, Sequence[str]]]) -> Search:
    """One search for the phrases of all rules, each given with its rule's number."""
    patterns = re2.Set.SearchSet(_options())
    owners = []
    for number, several in phrases:
        for phrase in several:
            try:
                patterns.Add(in_re2(phrase))
            except re2.error as error:
                raise ValueError(f"phrase {phrase!r} cannot be searched for: {error}") from None
            owners.append(number)
    patterns.Compile()
    nobody: frozenset[int] = frozenset()
    match: Callable[[bytes], list[int] | None] = patterns.Match

    def search(text: str) -> Collection[int]:
        matched = match(text.encode("utf-8", "replace"))
        return nobody if matched is None else {owners[place] for place in matched}

    return search


def in_re2(phrase: str) -> str:
    """A pattern that google-re2 finds wherever `re` finds the phrase, and in any line."""
    return "(?m)" + _CLASS_OR_ESCAPE.sub(_as_wide, phrase)


def _as_wide(match: re.Match[str]) -> str:
    """A class that takes in all that it does for `re`."""
    piece = match[0]
    if piece in _WIDER:
        return f"[{_WIDER[piece]}]"
    if piece[0] != "[":
        return piece
    if piece.startswith("[^"):
        return f"(?:{piece}|[{_FOLDED}])"
    return _ESCAPE.sub(lambda escape: _WIDER.get(escape[0], escape[0]), piece)
