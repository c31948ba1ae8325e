"""What a long text of a test runner, a shell or a program says happened: facts with their place, no diagnoses."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

EventKind = Literal[
    "test-passed",
    "test-failed",
    "test-error",
    "test-skipped",
    "summary",
    "collection-error",
    "exception",
    "shell-error",
    "install-failed",
    "network",
    "out-of-memory",
    "killed",
    "timeout",
    "disk-full",
    "usage-error",
]
"""`test-error`: a test that broke outside of its own assertions; `usage-error`: a tool rejects its own arguments."""

Where = Literal["test", "solution", "library", "harness"]


class LogFrame(Struct, frozen=True, gc=False, kw_only=True):
    """The place in the code that raised; `where` is told by the structure of its path alone."""

    file: str
    line: int | None = None
    function: str | None = None
    where: Where


class Counts(Struct, frozen=True, gc=False, kw_only=True):
    """What a runner says of all its tests; None where it does not say. `failed` leaves out `errors`."""

    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None
    collected: int | None = None


class LogEvent(Struct, frozen=True, gc=False, kw_only=True):
    """One thing that happened.

    `message`, `expected` and `actual` are parts of the text as `plain_text` shows it, or of a string in its JSON or XML.
    """

    kind: EventKind
    subject: str
    """Test id, class of an exception, command, path, host:port or package; empty where the text names none."""
    message: str
    """The assertion or error in its own words, or else the line."""
    line: int
    """Of the plain text, from 1."""
    source: str
    """What wrote it, by the parser that knows it: `pytest`, `go`, `shell`..."""
    frame: LogFrame | None = None
    """Where an exception or a failing assertion was raised, if that is printed."""
    expected: str | None = None
    """What an assertion wanted, where the framework says which side that is, or else the right side."""
    actual: str | None = None
    counts: Counts | None = None
    """Of a summary."""


class Log(Struct, frozen=True, kw_only=True):
    """All that the parsers found in one text.

    A number is None where no runner gave one and no test is named. A test that has several verdicts counts by its last.
    """

    events: tuple[LogEvent, ...] = ()
    """In the order of the text."""
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None
    collected: int | None = None
    session_started: bool = False
    """A test runner printed its header, or the result of a test."""
    session_ended: bool = False
    """The last test session printed its closing summary."""
    truncated_start: bool = False
    """Results stand in the text without the header that their runner always prints first: absence proves nothing."""
    dropped: int = 0
    """Events beyond the limit, those of passing tests first."""


NOTHING_LOGGED = Log()
