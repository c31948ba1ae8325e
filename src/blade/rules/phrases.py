r"""The search that opens the gates of rules: one google-re2 set for the phrases of all rules that look in the same place.

What a rule is after stands in one of two places of a rollout: at the head of a result that may be an error, or in what
the agent said last. A rule names its place, and the set runs over the text of that place, which is a small part of a
trajectory. A hit only opens the rule's gate; the rule confirms it step by step, with `any_of`.

A phrase is a pattern that both `re` and google-re2 know. It ignores case, and `^` and `$` stand for the ends of a line.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal

from blade.model.rollout import LONGEST_UNMARKED, Step
from blade.rules.programs import runs_code

FLAGS = re.IGNORECASE | re.ASCII

Search = Callable[[str], Collection[int]]
"""Numbers of the rules whose phrases may be in a text."""
SearchAll = Callable[[Sequence[str]], list[Collection[int]]]
"""The same for each of some texts."""
Ref = Literal["errors", "closing"]

HEAD = 600
"""Characters at the start of a result in which an error is looked for, and the most that the output of a program has
where it may be one without a mark."""
OPENING = 300
"""Characters at the start of a text after which many rules stop: there a word may end for them in its middle."""
CLOSING = 2
"""Messages at the end that close a rollout, whatever was called between them."""

_MEMORY = 64 << 20
_CLASS_OR_ESCAPE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
_TOKEN = re.compile(rf"{_CLASS_OR_ESCAPE.pattern}|\(\?<?[=!]|.", re.DOTALL)
_FOLDED = r"\x{17f}\x{212a}"
"""Letters that google-re2 takes for s and k where it ignores case."""
_WIDER = {r"\s": r"\s\x0b", r"\w": r"\w\x{80}-\x{10ffff}", r"\W": rf"\W{_FOLDED}"}
"""Classes that leave something out in google-re2: the vertical tab, letters beyond ASCII, and those two."""


class AnyOf:
    """What a rule confirms its phrases with; each is compiled at its first use.

    It is asked as a compiled pattern is. google-re2 looks first, without what is asked of the words around a phrase: it
    takes a twentieth of the time, most texts hold no phrase, and of the others most hold one or two.
    """

    def __init__(self, phrases: Sequence[str], flags: re.RegexFlag) -> None:
        self._phrases = tuple(phrases)
        self._flags = flags
        self._of_ascii = bool(flags & re.ASCII)
        self._compiled: dict[int, re.Pattern[str]] = {}

    @cached_property
    def _search(self) -> Search | None:
        return search_for([(number, [without_lookaround(phrase)]) for number, phrase in enumerate(self._phrases)])

    @cached_property
    def _sure(self) -> frozenset[int]:
        """Phrases that google-re2, where it is there, finds in ASCII text just where `re` does."""
        if self._search is None:
            return frozenset()
        return frozenset(number for number, phrase in enumerate(self._phrases) if _is_as_it_is(phrase))

    def _may_be_in(self, text: str) -> Collection[int]:
        if self._search is None or (not self._of_ascii and not text.isascii()):
            return range(len(self._phrases))
        return self._search(text)

    def _pattern(self, number: int) -> re.Pattern[str]:
        if number not in self._compiled:
            self._compiled[number] = re.compile(self._phrases[number], self._flags)
        return self._compiled[number]

    def is_in(self, text: str) -> bool:
        """Whether any phrase is in a text; where that is ASCII, google-re2 alone can tell of most phrases."""
        found = self._may_be_in(text)
        if not found:
            return False
        if text.isascii() and not self._sure.isdisjoint(found):
            return True
        return any(self._pattern(number).search(text) for number in sorted(found))

    def search(self, text: str) -> re.Match[str] | None:
        """The first phrase in a text."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every phrase in a text, in order; where several begin at one place, the one that comes first among the phrases."""
        if self._begins is not None and (self._blind_beyond_ascii or text.isascii()):
            return self._confirmed(self._begins, text)
        return _merged([self._pattern(number) for number in sorted(self._may_be_in(text))], text)

    @cached_property
    def _begins(self) -> Any | None:
        """What finds where a phrase may begin; None when google-re2 is not there."""
        return either_of([without_lookaround(phrase) for phrase in self._phrases])

    @cached_property
    def _blind_beyond_ascii(self) -> bool:
        """Whether no phrase tells a letter beyond ASCII from a question mark."""
        return self._of_ascii and all(phrase.isascii() and "[^" not in phrase for phrase in self._phrases)

    def _confirmed(self, begins: Any, text: str) -> Iterator[re.Match[str]]:
        """The phrases at the places where google-re2 sees one begin: the patterns are asked nowhere else."""
        # Each letter is one byte, so that places in it are places in the text.
        data = text.encode("ascii", "replace")
        after = 0
        while after <= len(data) and (seen := begins.search(data, after)):
            place = seen.start()
            found = (self._pattern(number).match(text, place) for number in range(len(self._phrases)))
            match = next(filter(None, found), None)
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


def any_of(phrases: Sequence[str], flags: re.RegexFlag = FLAGS) -> AnyOf:
    """Some phrases as one; without `re.ASCII` among the flags, google-re2 looks at ASCII text only."""
    return AnyOf(phrases, flags)


def _is_as_it_is(phrase: str) -> bool:
    """Whether google-re2 finds in ASCII text just what `re` finds: nothing is asked of what is around, or of ends of lines."""
    return without_lookaround(phrase) == phrase and "^" not in phrase and "$" not in phrase


def without_lookaround(phrase: str) -> str:
    """A phrase that is found wherever the phrase is, and asks nothing of what stands before and behind it."""
    pieces: list[str] = []
    depth = 0
    for found in _TOKEN.finditer(phrase):
        piece = found[0]
        if depth:
            depth += (piece[0] == "(") - (piece == ")")
        elif piece in _LOOKAROUND:
            depth = 1
        else:
            pieces.append(piece)
    return "".join(pieces)


def errors(steps: Sequence[Step]) -> str:
    """The heads of results that are marked as errors, and all results that are short enough to be one."""
    results = [step for step in steps if step.kind == "result" and (step.failed or _may_be_error(step))]
    opened = [step.text[:OPENING] for step in results if step.failed and len(step.text) > OPENING]
    return "\n".join([*opened, *[step.text[:HEAD] for step in results]])


def _may_be_error(step: Step) -> bool:
    size = len(step.text)
    return size <= LONGEST_UNMARKED or (size <= HEAD and runs_code(step.tool or ""))


def closing(steps: Sequence[Step]) -> str:
    """What the agent said after its last call, and at least its last two messages."""
    said: list[str] = []
    called = False
    for step in reversed(steps):
        kind = step.kind
        if kind == "message":
            if step.party == "agent" and (text := step.text) and not text.isspace():
                said.append(text)
        elif kind == "call":
            called = True
        if called and len(said) >= CLOSING:
            break
    opened = [said[0][:OPENING]] if said and len(said[0]) > OPENING else []
    return "\n".join([*opened, *(said if called else said[:CLOSING])])


TEXT_AT: dict[Ref, Callable[[Sequence[Step]], str]] = {"errors": errors, "closing": closing}


def _google_re2() -> tuple[Any, Any] | None:
    """The module and the options of all searches; None when it is not there."""
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        return None
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2, options


def either_of(phrases: Sequence[str]) -> Any | None:
    """The phrases as alternatives of one pattern of google-re2; None when it is not there."""
    there = _google_re2()
    if there is None:
        return None
    re2, options = there
    options.never_capture = True
    return re2.compile("|".join(f"(?:{in_re2(phrase)})" for phrase in phrases), options)


def search_all_for(phrases: Sequence[tuple[int, Sequence[str]]]) -> SearchAll | None:
    """As `search_for`, in many texts at once: most hold no phrase, and all of those are passed over in one search."""
    search, any_phrase = search_for(phrases), either_of([phrase for _, several in phrases for phrase in several])
    if search is None or any_phrase is None:
        return None

    def search_all(texts: Sequence[str]) -> list[Collection[int]]:
        numbers: list[Collection[int]] = [()] * len(texts)
        joined, starts = _joined(texts)
        place = 0
        while match := any_phrase.search(joined, starts[place]):
            # It may reach into the next text, and then is none: the search that tells of the rules sees one text only.
            place = bisect_right(starts, match.start(), hi=len(texts))
            numbers[place - 1] = search(texts[place - 1])
        return numbers

    return search_all


def _joined(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """The texts in lines of their own, and where each begins and the last ends."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    return b"\n".join(encoded), list(accumulate([len(one) + 1 for one in encoded], initial=0))


def search_for(phrases: Sequence[tuple[int, Sequence[str]]]) -> Search | None:
    """One search for the phrases of all rules, each given with its rule's number; None when google-re2 is not there."""
    there = _google_re2()
    if there is None:
        return None
    re2, options = there
    patterns = re2.Set.SearchSet(options)
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
        found = match(text.encode("utf-8", "replace"))
        return nobody if found is None else {owners[place] for place in found}

    return search


def in_re2(phrase: str) -> str:
    """A pattern that google-re2 finds wherever `re` finds the phrase, and in any line."""
    return "(?m)" + _CLASS_OR_ESCAPE.sub(_as_wide, phrase)


def _as_wide(found: re.Match[str]) -> str:
    """A class that takes in all that it does for `re`."""
    piece = found[0]
    if piece in _WIDER:
        return f"[{_WIDER[piece]}]"
    if piece[0] != "[":
        return piece
    if piece.startswith("[^"):
        return f"(?:{piece}|[{_FOLDED}])"
    return _ESCAPE.sub(lambda one: _WIDER.get(one[0], one[0]), piece)
