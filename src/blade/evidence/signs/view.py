"""A rollout as the families of signs look at it: what several of them need is made once, and only when one asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import re2

from blade.evidence.signs.claims import CLAIMS, success_claim
from blade.model.account import Account, LogText
from blade.model.finding import Sign
from blade.model.log import LogEvent
from blade.model.rollout import Features, Outcome, Rollout, Step

LONGEST_SUBJECT = 120
LONGEST_QUOTE = 200
CLOSING = 2_500
"""Characters at the end of the last message in which its conclusion stands: longer reports end with one."""
FAILING = ("test-failed", "test-error", "collection-error")
"""Events that say that a test did not hold, in the order in which they are kept."""
NO_FEATURES = Features()

_RUNS = frozenset(
    "bash shell sh terminal console powershell python ipython jupyter repl command cmd code exec execute run keystrokes".split()  # noqa: SIM905
)
_WRITES = frozenset("write edit insert replace patch append multiedit editor".split())  # noqa: SIM905
_MAKES = frozenset("create update save modify".split())  # noqa: SIM905
"""Words of tools that write a file where their name has the word, too: other tools make orders and bookings."""
_code_point = re.compile(r"\\u([0-9a-f]{4})")
_part_of_name = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_piece = re.compile(r"[^\s'\"`()\[\]{}<>,;:=|\\]+")
LONGEST_PATH = 300
"""Characters of a path; a longer run of letters is content, and patterns would take long to refuse it."""
_of_program = re.compile(
    r"(?m)^(?:E +)?[\w.]*(?:Error|Exception)(?::| while\b|$)|^(?:E +)?assert |^Traceback |\bpanicked at "
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


def _compiled(pattern: str, *, ignore_case: bool) -> Callable[[bytes], object]:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.never_capture = True
    options.log_errors = False
    search: Callable[[bytes], object] = re2.compile(_code_point.sub(r"\\x{\1}", pattern), options).search
    return search


def may_hold(pattern: str, *, ignore_case: bool = True) -> Callable[[str], bool]:
    """Whether a text may hold a pattern, as google-re2 tells: it takes a twentieth of the time of `re`, which then decides.

    The pattern asks nothing of what stands around it, and `.` and letters beyond ASCII mean the same to both.
    """
    search: Callable[[bytes], object] | None = None

    def holds(text: str) -> bool:
        nonlocal search
        if search is None:
            search = _compiled(pattern, ignore_case=ignore_case)
        return search(text.encode("utf-8", "replace")) is not None

    return holds


may_claim = may_hold(CLAIMS)


def words_of(name: str) -> set[str]:
    """The words that a name in code is made of, in lower case."""
    return {word.lower() for word in _part_of_name.findall(name)}


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

    @cached_property
    def prompt(self) -> str:
        """All that the agent was given, as one text."""
        return "\n".join(step.text for step in self.rollout.prompt)

    @cached_property
    def session(self) -> Mapping[str, Any]:
        """What the agent's own log says of how it ended; empty where it does not."""
        value = self.rollout.field("session")
        return value if isinstance(value, dict) else {}

    @cached_property
    def is_cut(self) -> bool:
        """Whether the transcript begins in the middle, so that absence proves nothing."""
        return bool(self.rollout.field("transcript_is_cut"))

    @cached_property
    def last(self) -> Step | None:
        """The last message of the agent, where no call comes after it."""
        for step in reversed(self.steps):
            if step.party == "agent" and step.kind in ("message", "refusal") and step.text.strip():
                return step
            if step.kind == "call":
                return None
        return None

    @cached_property
    def closing(self) -> str:
        """The end of the last message."""
        return self.last.text[-CLOSING:] if self.last is not None else ""

    @cached_property
    def claim(self) -> str:
        """The words of the closing that report the work as done; empty where none do."""
        return success_claim(self.closing) if may_claim(self.closing) else ""

    @cached_property
    def calls(self) -> tuple[Step, ...]:
        """What the agent called."""
        return tuple(step for step in self.steps if step.kind == "call" and step.party == "agent")

    @cached_property
    def grader_logs(self) -> tuple[LogText, ...]:
        return tuple(log for log in self.account.logs if not log.of_agent)

    @cached_property
    def agent_logs(self) -> tuple[LogText, ...]:
        return tuple(log for log in self.account.logs if log.of_agent)

    @cached_property
    def failures(self) -> Sequence[tuple[LogText, LogEvent]]:
        """The tests that the grader's logs say did not hold."""
        events = [(log, event) for log in self.grader_logs for event in log.parsed.events if event.kind in FAILING]
        events = events or list(self._failed_checks())
        return sorted(events, key=lambda pair: FAILING.index(pair[1].kind))

    def _failed_checks(self) -> Iterator[tuple[LogText, LogEvent]]:
        """The named checks that did not hold, by what the grader wrote beside each."""
        for check in self.rollout.due.checks:
            if check.passed or not check.words_field or not _of_program.search(check.words):
                continue
            text = next((log for log in self.grader_logs if log.field == check.words_field), None)
            log = text or LogText(field=check.words_field, text=check.words)
            raised = next((event for event in reversed(log.parsed.events) if event.kind == "exception"), None)
            message = raised.message if raised is not None else check.words.strip().split("\n", 1)[0]
            frame = raised.frame if raised is not None else None
            line = raised.line if raised is not None else 1
            yield (
                log,
                LogEvent(
                    kind="test-failed", subject=check.name, message=message, line=line, source="checks", frame=frame
                ),
            )

    @cached_property
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
