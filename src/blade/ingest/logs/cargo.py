"""cargo test, errors of rustc, and panics of Rust programs."""

from __future__ import annotations

from blade.ingest.logs.compared import compared
from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, added, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "cargo"
MARKS = (
    r"(?m)^test .* \.\.\. (?:ok|FAILED|ignored|bench)",
    r"(?m)^test result: ",
    r"' (?:\(\d+\) )?panicked at ",
    r"(?m)^error: could not compile ",
)

_TEST = pattern_of(r"test (\S+)(?: - .*)? \.\.\. (ok|FAILED|ignored)\b")
_DOCTEST = pattern_of(r"test (\S+ - .* \(line \d+\)) \.\.\. (ok|FAILED|ignored)\b")
_RESULT = pattern_of(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored; .*")
_SECTION = pattern_of(r"---- (.+) stdout ----$")
_PANIC = pattern_of(r"thread '([^']*)' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^\s:][^:]*):(\d+)(?::\d+)?(:?)$")
_SIDE = pattern_of(r" *(left|right): `?(.*?)`?,?$")
_AT = pattern_of(r" *--> ([^:]+):(\d+)")
_KINDS: dict[str, EventKind] = {"ok": "test-passed", "FAILED": "test-failed", "ignored": "test-skipped"}
_MOST_LINES_OF_A_MESSAGE = 6
_MOST_LINES_TO_AN_ERROR = 400
"""Between the first error of a compilation and the line that says it failed."""


def parse(text: PrintedText, found: Gathered) -> None:
    """One pass; a panic inside a test's section is the reason of that test, any other an exception."""
    tests: dict[str, Draft] = {}
    total: Counts | None = None
    for place, line in enumerate(text.lines, start=1):
        if line.startswith("test ") and (match := _DOCTEST.match(line) or _TEST.match(line)):
            tests[match[1]] = Draft(subject=match[1], kind=_KINDS[match[2]], line=place, message=line)
        elif line.startswith("test result: ") and (match := _RESULT.match(line)):
            passed, failed, ignored = (number(count) for count in match.groups())
            counts = Counts(
                passed=passed, failed=failed, errors=0, skipped=ignored, collected=passed + failed + ignored
            )
            found.summary(NAME, place, line, counts)
            found.totals[NAME] = total = added(total, counts)
        elif line.startswith("thread '") and (match := _PANIC.match(line)):
            _panicked(text, found, tests, place, match[1], (match[2], match[3], match[4]))
        elif line.startswith("error: could not compile "):
            _uncompiled(text, found, place, line)
    for draft in tests.values():
        found.add_test(NAME, draft)


def _panicked(
    text: PrintedText,
    found: Gathered,
    tests: dict[str, Draft],
    place: int,
    thread: str,
    at: tuple[str | None, str, str],
) -> None:
    """The message stands in the line itself in older versions, and below it in newer ones."""
    old, file, line = at
    below = text.lines[place : place + _MOST_LINES_OF_A_MESSAGE]
    message = old if old is not None else (below[0] if below else "")
    sides = {match[1]: match[2] for said in below if (match := _SIDE.match(said))}
    actual, expected = sides.get("left"), sides.get("right")
    if expected is None and actual is None:
        expected, actual = compared(message)
    frame = frame_at(file, line)
    if thread in tests:
        where = place if old is not None else place + 1
        reason = Draft(subject=thread, kind="test-failed", line=where, message=message, frame=frame)
        reason.expected, reason.actual = expected, actual
        tests[thread].explain(reason)
    else:
        found.add(NAME, "exception", place, message or text.lines[place - 1], "panic", frame=frame)


def _uncompiled(text: PrintedText, found: Gathered, place: int, line: str) -> None:
    """The first error above, with its place."""
    subject = line.split("`")[1] if line.count("`") > 1 else ""
    for above in range(max(1, place - _MOST_LINES_TO_AN_ERROR), place):
        error = text.lines[above - 1]
        if error.startswith(("error[", "error: ")):
            at = next((match for said in text.lines[above : above + 4] if (match := _AT.match(said))), None)
            found.add(NAME, "collection-error", above, error, subject, frame=frame_at(at[1], at[2]) if at else None)
            return
    found.add(NAME, "collection-error", place, line, subject)
