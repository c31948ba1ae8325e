"""A rollout as the families of signs look at it: what several of them need is made once, and only when one asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from blade.evidence.presence import search_of
from blade.evidence.signs.claims import CLAIMS, success_claim
from blade.model.account import Account, LogText
from blade.model.finding import Sign
from blade.model.log import LogEvent
from blade.model.made_once import made_once
from blade.model.rollout import Features, Outcome, Rollout, Step

LONGEST_SUBJECT = 120
LONGEST_QUOTE = 200
CLOSING = 2_500
"""Characters at the end of the last message in which its conclusion stands: longer reports end with one."""
OPENING = 300
"""Characters at the start of a message in which a refusal stands: it opens with it."""
FAILING = ("test-failed", "test-error", "collection-error")
"""Events that say that a test did not hold, in the order in which they are kept."""
NO_FEATURES = Features()

_RUNS = frozenset(
    "bash shell sh terminal console powershell python ipython jupyter repl command cmd code exec execute run keystrokes".split()  # noqa: SIM905
)
_WRITES = frozenset("write edit insert replace patch append multiedit editor".split())  # noqa: SIM905
_MAKES = frozenset("create update save modify".split())  # noqa: SIM905
"""Words of tools that write a file where their name has the word, too: other tools make orders and bookings."""
_part_of_name = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_piece = re.compile(r"[^\s'\"`()\[\]{}<>,;:=|\\]+")
LONGEST_PATH = 300
"""Characters of a path; a longer run of letters is content, and patterns would take long to refuse it."""
_of_program = re.compile(
    r"(?m)^(?:E +)?[\w.]*(?:Error|Exception)(?::| while\b|$)|^(?:E +)?assert |^Traceback |\bpanicked at |^INTERNALERROR> "
    r"|^(?:fatal )?error: |^(?:E +)?fixture '[^'\n]+' not found"
)
"""Words of a check that a test program printed; a judge writes sentences."""
_heading = re.compile(r"(?:[_=#*~]{4,}| *\d+ (?:passed|failed)\b)")


def sign(kind: str, subject: str = "", quote: str = "", field: str = "", step: int | None = None) -> Sign:
    """A sign within its limits; without a quote it names no field."""
    quote = quote.strip()[:LONGEST_QUOTE].rstrip()
    where = (field, step) if quote else ("", step)
    return Sign(
        kind=kind, subject=" ".join(subject.split())[:LONGEST_SUBJECT], quote=quote, field=where[0], step=where[1]
    )


_searched: list[str] = []


def in_closing(pattern: str) -> Callable[[RolloutView], bool]:
    """Whether the closing of a rollout may hold a pattern, case aside.

    All patterns that are asked for are one search. They ask nothing of what stands around them.
    """
    place = _place_of(pattern)
    return lambda view: place in view.closing_holds


def in_opening(pattern: str) -> Callable[[RolloutView], bool]:
    """The same of the opening of the last message; it may say so of a pattern that stands behind the opening."""
    place = _place_of(pattern)
    return lambda view: place in view.opening_holds


def _place_of(pattern: str) -> int:
    _searched.append(pattern)
    _search.cache_clear()
    return len(_searched) - 1


@cache
def _search() -> Callable[[bytes], list[int] | None]:
    return search_of(_searched)


_may_claim = in_closing(CLAIMS)


@lru_cache(maxsize=4096)
def words_of(name: str) -> frozenset[str]:
    """The words that a name in code is made of, in lower case."""
    return frozenset(word.lower() for word in _part_of_name.findall(name))


def runs_commands(step: Step) -> bool:
    """Whether a call runs what the agent writes."""
    return not _RUNS.isdisjoint(words_of(step.tool or ""))


def writes_file(step: Step) -> bool:
    """Whether a call is of a tool that writes a file."""
    words = words_of(step.tool or "")
    writes = not _WRITES.isdisjoint(words) or ("file" in words and not _MAKES.isdisjoint(words))
    return writes and "todo" not in words


def paths_in(text: str) -> Iterator[re.Match[str]]:
    """The pieces of a text that may be paths: what stands between blanks, quotes, brackets and colons."""
    return (found for found in _piece.finditer(text) if found.end() - found.start() <= LONGEST_PATH)


class RolloutView:
    """One rollout; every text is the row's own, so that what is cut out of it is a quote."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout
        self.steps: tuple[Step, ...] = rollout.steps or ()
        self.features = rollout.features or NO_FEATURES
        self.account: Account = rollout.account
        self.passed = rollout.outcome is Outcome.PASSED

    @made_once
    def prompt(self) -> str:
        """All that the agent was given, as one text."""
        return "\n".join(step.text for step in self.rollout.prompt)

    @made_once
    def session(self) -> Mapping[str, Any]:
        """What the agent's own log says of how it ended; empty where it does not."""
        value = self.rollout.field("session")
        return value if isinstance(value, dict) else {}

    @made_once
    def is_cut(self) -> bool:
        """Whether the transcript begins in the middle, so that absence proves nothing."""
        return bool(self.rollout.field("transcript_is_cut"))

    @made_once
    def last(self) -> Step | None:
        """The last message of the agent, where no call comes after it."""
        for step in reversed(self.steps):
            if step.party == "agent" and step.kind in ("message", "refusal") and step.text.strip():
                return step
            if step.kind == "call":
                return None
        return None

    @made_once
    def closing(self) -> str:
        """The end of the last message."""
        return self.last.text[-CLOSING:] if self.last is not None else ""

    @made_once
    def claim(self) -> str:
        """The words of the closing that report the work as done; empty where none do."""
        return success_claim(self.closing) if _may_claim(self) else ""

    @made_once
    def closing_holds(self) -> Collection[int]:
        """The places of the patterns that the closing may hold."""
        return _search()(self.closing.encode("utf-8", "replace")) or ()

    @made_once
    def opening_holds(self) -> Collection[int]:
        """The places of the patterns that the opening of the last message may hold; of a short one its whole is searched."""
        text = self.last.text if self.last is not None else ""
        if len(text) <= 2 * OPENING:
            return self.closing_holds
        return _search()(text[:OPENING].encode("utf-8", "replace")) or ()

    @made_once
    def calls(self) -> tuple[Step, ...]:
        """What the agent called."""
        return tuple(step for step in self.steps if step.kind == "call" and step.party == "agent")

    @made_once
    def grader_logs(self) -> tuple[LogText, ...]:
        return tuple(log for log in self.account.logs if not log.of_agent)

    @made_once
    def agent_logs(self) -> tuple[LogText, ...]:
        return tuple(log for log in self.account.logs if log.of_agent)

    @made_once
    def failures(self) -> Sequence[tuple[LogText, LogEvent]]:
        """The tests that the grader's logs say did not hold."""
        events = [(log, event) for log in self.grader_logs for event in log.parsed.events if event.kind in FAILING]
        events = events or list(self._failed_checks())
        return sorted(events, key=lambda pair: FAILING.index(pair[1].kind))

    def _failed_checks(self) -> Iterator[tuple[LogText, LogEvent]]:
        """The named checks that did not hold, by what the grader wrote beside each."""
        # Here, so that whoever only loads this waits for no parser.
        from blade.ingest.logs.compared import compared
        from blade.ingest.logs.parse import parse_log

        for check in self.rollout.due.checks:
            if check.passed or not check.words_field or not _of_program.search(check.words):
                continue
            text = next((log for log in self.grader_logs if log.field == check.words_field), None)
            log = text or LogText(field=check.words_field, text=check.words, reader=parse_log)
            raised = next((event for event in reversed(log.parsed.events) if event.kind == "exception"), None)
            message = raised.message if raised is not None else check.words.strip().split("\n", 1)[0]
            frame = raised.frame if raised is not None else None
            expected, actual = compared(message)
            line = raised.line if raised is not None else 1
            yield (
                log,
                LogEvent(
                    kind="test-failed",
                    subject=check.name,
                    message=message,
                    line=line,
                    source="checks",
                    frame=frame,
                    expected=expected,
                    actual=actual,
                ),
            )

    @made_once
    def failure_texts(self) -> Sequence[tuple[LogText, LogEvent, str]]:
        """Each failure with the lines around it that tell what was compared; a long line by its beginning."""
        return [(log, event, "\n".join(lines_around(log, event))) for log, event in self.failures[:MOST_FAILURES]]


MOST_FAILURES = 12
"""Failures whose text is looked into: the first ones tell, and a suite may have thousands."""
LONGEST_LINE = 1_000
"""Characters of a line that are looked into: what was compared stands at its beginning."""
LINES_BEFORE, LINES_AFTER = 14, 40
"""A source line of pytest stands at most a few lines above its error; where values came from, below it,
and then what the test printed."""


def lines_around(log: LogText, event: LogEvent) -> Iterator[str]:
    """The lines before and after the place of an event, without those of its neighbors."""
    lines = log.text.split("\n")
    here = min(max(event.line - 1, 0), len(lines) - 1)
    first = here
    while first > 0 and here - first < LINES_BEFORE and not _heading.match(lines[first - 1]):
        first -= 1
    for place in range(first, min(len(lines), here + LINES_AFTER)):
        if place > here and _heading.match(lines[place]):
            return
        yield lines[place][:LONGEST_LINE]


def line_with(text: str, found: re.Match[str]) -> str:
    """The line that a match stands in, from at most a quote's length before it."""
    start = max(text.rfind("\n", 0, found.start()) + 1, found.start() - LONGEST_QUOTE // 2)
    end = text.find("\n", found.end())
    return text[start : end if end != -1 else len(text)]


def line_of(log: LogText, event: LogEvent) -> str:
    """The words of an event as they stand in the log; empty where they stand otherwise there."""
    for words in (event.message.split("\n", 1)[0], event.subject):
        if words.strip() and words.strip()[:LONGEST_QUOTE].rstrip() in log.text:
            return words
    lines = log.text.split("\n")
    return lines[event.line - 1] if 0 < event.line <= len(lines) else ""
