"""A long text as events: every parser whose marks are in it, over the lines that a person saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import re2
from msgspec import Struct

from blade.ingest.logs import (
    cargo,
    ctest,
    ctrf,
    go,
    gtest,
    javascript,
    junit_xml,
    pytest,
    ruby,
    stacks,
    surefire,
    sympy,
    tap,
    traceback,
    unittest,
)
from blade.ingest.logs.complaints import COMPLAINTS, complain
from blade.ingest.logs.reading import Gathered, PrintedText, added
from blade.ingest.terminal import plain_text
from blade.model.log import NOTHING_LOGGED, Counts, EventKind, Log, LogEvent

MOST_EVENTS = 2_000
"""Enough for nearly every test suite; a row must not grow with its log."""

_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}]"
"""A text without any needs no cleaning."""
_MEMORY = 64 << 20
_RETELLINGS = (ctrf.NAME, junit_xml.NAME)
"""Formats that tell again what a runner printed; they count where they stand alone."""
_LEAST = {"test-passed": 0, "test-skipped": 1}
"""What is dropped first beyond the limit."""


class _Parser(Struct, frozen=True):
    marks: tuple[str, ...]
    parse: Callable[[PrintedText, Gathered], None]


_PARSERS = tuple(
    _Parser(module.MARKS, module.parse)
    for module in (
        pytest,
        unittest,
        sympy,
        go,
        cargo,
        javascript,
        tap,
        ctest,
        gtest,
        junit_xml,
        ctrf,
        surefire,
        ruby,
        traceback,
        stacks,
    )
)


def parse_log(text: str, limit: int = MOST_EVENTS) -> Log:
    """What happened according to a text; never raises, and takes time in proportion to its length."""
    if "\x1b" in text:
        text = plain_text(text)  # now, so that marks are looked for once
    marked = _marked(text)
    if 0 in marked:
        text = plain_text(text)
        marked = _marked(text)
    if not marked:
        return NOTHING_LOGGED
    lines = PrintedText(text)
    found = Gathered(lines)
    owners = _gates()[1]
    asked = {owner for mark in marked if (owner := owners[mark]) is not None}
    for parser in sorted(owner for owner in asked if owner >= 0):
        _PARSERS[parser].parse(lines, found)
    complain(lines, sorted(-owner - 1 for owner in asked if owner < 0), found)
    return _log(found, limit)


def _marked(text: str) -> Sequence[int]:
    """The numbers of the marks that are in a text; 0 is that of control characters."""
    return _gates()[0].Match(text.encode("utf-8", "replace")) or ()


@cache
def _gates() -> tuple[Any, tuple[int | None, ...]]:
    """One search for all marks, and who each belongs to: a parser, or below zero a complaint."""
    options = re2.Options()
    options.max_mem = _MEMORY
    gates = re2.Set.SearchSet(options)
    owners: list[int | None] = [None]
    gates.Add(_CONTROL)
    for number, parser in enumerate(_PARSERS):
        for mark in parser.marks:
            gates.Add(mark)
            owners.append(number)
    for number, complaint in enumerate(COMPLAINTS):
        gates.Add(re2.escape(complaint.needle))
        owners.append(-number - 1)
    gates.Compile()
    return gates, tuple(owners)


def _log(found: Gathered, limit: int) -> Log:
    events = _in_order(found.events)
    total = _total(found, events)
    kept = events
    if len(events) > limit:
        ranked = sorted(range(len(events)), key=lambda place: (-_LEAST.get(events[place].kind, 2), place))
        kept = [events[place] for place in sorted(ranked[:limit])]
    return Log(
        events=tuple(kept),
        passed=total.passed,
        failed=total.failed,
        errors=total.errors,
        skipped=total.skipped,
        collected=total.collected,
        session_started=found.started,
        session_ended=bool(found.ended) and not found.open,
        truncated_start=found.truncated,
        dropped=len(events) - len(kept),
    )


def _in_order(events: list[LogEvent]) -> list[LogEvent]:
    """By line; what a test was failed with is not told again as an exception."""
    reasons = {event.line for event in events if event.kind in ("test-failed", "test-error", "collection-error")}
    once = [event for event in events if event.kind != "exception" or event.line not in reasons]
    return sorted(once, key=attrgetter("line"))


def _total(found: Gathered, events: list[LogEvent]) -> Counts:
    """Over all runners of the text: what each says itself, else its named tests, each by its last verdict."""
    named: dict[str, dict[str, EventKind]] = {}
    for event in events:
        if event.kind.startswith("test-") or event.kind == "collection-error":
            named.setdefault(event.source, {})[event.subject] = event.kind
    sources = sorted({*named, *found.totals})
    told = [source for source in sources if source not in _RETELLINGS] or sources[:1]
    total: Counts | None = None
    for source in told:
        total = added(total, found.totals.get(source) or _counted(named.get(source, {})))
    return total or Counts()


def _counted(verdicts: dict[str, EventKind]) -> Counts:
    kinds = list(verdicts.values())
    return Counts(
        passed=kinds.count("test-passed"),
        failed=kinds.count("test-failed"),
        errors=kinds.count("test-error") + kinds.count("collection-error"),
        skipped=kinds.count("test-skipped"),
    )
