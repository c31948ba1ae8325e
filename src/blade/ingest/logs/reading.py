"""What parsers read and fill: a text by lines, tests that are put together from several places, and what was found."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from blade.model.log import Counts, EventKind, LogEvent, LogFrame

LONGEST_LINE = 4_000
"""Characters of a line that parsers look at: no result or error of a tool that we know is longer."""
LONGEST_MESSAGE = 2_000
"""Characters that are kept of a message or a value: enough to quote, and a row stays small."""


class PrintedText:
    """A text without control characters, by lines."""

    def __init__(self, plain: str) -> None:
        self.plain = plain
        lines = plain.split("\n")
        if len(plain) > LONGEST_LINE:
            lines = [line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] for line in lines]
        self.lines = lines

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self.plain.split("\n"))][:-1]

    def number_at(self, offset: int) -> int:
        """The number of the line, from 1, that holds a character."""
        return bisect_right(self._starts, offset)

    def numbers_with(self, needle: str) -> Iterator[int]:
        """The numbers of the lines, from 1, that hold a string."""
        plain = self.plain
        number, counted, place = 1, 0, plain.find(needle)
        while place != -1:
            number += plain.count("\n", counted, place)
            yield number
            counted = plain.find("\n", place)
            if counted == -1:
                return
            place = plain.find(needle, counted + 1)


class Draft(Struct, kw_only=True):
    """A test as far as it was read: its verdict stands in one place, its reason in another."""

    subject: str
    kind: EventKind
    line: int
    message: str = ""
    frame: LogFrame | None = None
    expected: str | None = None
    actual: str | None = None

    def explain(self, reason: Draft) -> None:
        """Takes over the message, the place and the values of a fuller account."""
        self.message, self.line = reason.message or self.message, reason.line if reason.message else self.line
        self.frame = reason.frame or self.frame
        if reason.expected is not None or reason.actual is not None:
            self.expected, self.actual = reason.expected, reason.actual


class Gathered:
    """What the parsers found in one text."""

    def __init__(self, text: PrintedText) -> None:
        self._lines = text.lines
        self.events: list[LogEvent] = []
        self.totals: dict[str, Counts] = {}
        """What a runner says of all its tests, by parser; without it the named tests are counted."""
        self.started = False
        self.open: set[str] = set()
        """Parsers whose last session began and printed no end."""
        self.ended: set[str] = set()
        self.truncated = False

    def start(self, source: str) -> None:
        """A session begins."""
        self.started = True
        self.open.add(source)

    def end(self, source: str) -> None:
        """A session printed its closing summary."""
        self.started = True
        self.open.discard(source)
        self.ended.add(source)

    def add(
        self,
        source: str,
        kind: EventKind,
        line: int,
        message: str,
        subject: str = "",
        *,
        frame: LogFrame | None = None,
        counts: Counts | None = None,
    ) -> None:
        """An event that stands in one place."""
        self.events.append(
            LogEvent(
                kind=kind,
                subject=subject[:LONGEST_MESSAGE],
                message=message.strip()[:LONGEST_MESSAGE],
                line=line,
                source=source,
                frame=frame,
                counts=counts,
            )
        )

    def summary(self, source: str, line: int, message: str, counts: Counts) -> None:
        """A closing summary; the last one of a parser is its total unless the parser says otherwise."""
        self.add(source, "summary", line, message, counts=counts)
        self.totals[source] = counts
        self.end(source)

    def add_test(self, source: str, draft: Draft) -> None:
        """A test with all that is known of it; without a reason its line is what it says."""
        self.started = True
        self.events.append(
            LogEvent(
                kind=draft.kind,
                subject=draft.subject[:LONGEST_MESSAGE],
                message=(draft.message.strip() or self._lines[draft.line - 1].strip())[:LONGEST_MESSAGE],
                line=draft.line,
                source=source,
                frame=draft.frame,
                expected=_shortened(draft.expected),
                actual=_shortened(draft.actual),
            )
        )


def _shortened(value: str | None) -> str | None:
    return None if value is None else value[:LONGEST_MESSAGE]


def added(one: Counts | None, other: Counts) -> Counts:
    """The counts of two groups of tests together."""
    if one is None:
        return other
    return Counts(
        passed=_sum(one.passed, other.passed),
        failed=_sum(one.failed, other.failed),
        errors=_sum(one.errors, other.errors),
        skipped=_sum(one.skipped, other.skipped),
        collected=_sum(one.collected, other.collected),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def number(digits: str | None) -> int:
    """A count as printed; nothing printed is none, and a count of more than 9 digits is no count of tests."""
    return int(digits) if digits and len(digits) <= 9 and digits.isascii() and digits.isdigit() else 0
