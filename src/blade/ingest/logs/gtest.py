"""GoogleTest: bracketed results, failures with their place and values."""

from __future__ import annotations

from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "gtest"
MARKS = (r"(?m)^\[ RUN      \] ", r"(?m)^\[(?:       OK |  FAILED  |  PASSED  |==========)\] ")

_RESULT = pattern_of(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\(\d+ ms\)$")
_FAILURE = pattern_of(r"(\S[^:]*):(\d+): (?:Failure|error: .*)$")
_ENDED = pattern_of(r"\[==========\] (\d+) tests? from \d+ test (?:suites?|cases?) ran")
_TALLY = pattern_of(r"\[  (PASSED|FAILED|SKIPPED) +\] (\d+) tests?")
_WHICH = pattern_of(r" +Which is: (.*)$")
_OLD = pattern_of(r" *(Actual|Expected|Which is): (.*)$")
_KINDS: dict[str, EventKind] = {"OK": "test-passed", "FAILED": "test-failed", "SKIPPED": "test-skipped"}
_MOST_LINES_OF_A_FAILURE = 8


def parse(text: PrintedText, found: Gathered) -> None:
    """Failures stand between the line that starts a test and the one that gives its result."""
    failure: Draft | None = None
    tally: dict[str, int] = {}
    end: tuple[int, str, int] | None = None
    for place, line in enumerate(text.lines, start=1):
        if line[:1] == "[":
            if line.startswith("[ RUN      ] "):
                failure = None
                found.start(NAME)
            elif match := _RESULT.match(line):
                draft = Draft(subject=match[2], kind=_KINDS[match[1]], line=place, message=line)
                if failure is not None and draft.kind == "test-failed":
                    draft.explain(failure)
                found.add_test(NAME, draft)
                failure = None
            elif match := _ENDED.match(line):
                end, tally = (place, line, number(match[1])), {}
            elif match := _TALLY.match(line):
                tally[match[1]] = number(match[2])
        elif failure is None and line.endswith("Failure") and (match := _FAILURE.match(line)):
            failure = _failure(text.lines[place : place + _MOST_LINES_OF_A_FAILURE], place, match[1], match[2])
    if end is not None:
        place, line, ran = end
        failed, skipped = tally.get("FAILED", 0), tally.get("SKIPPED", 0)
        passed = tally.get("PASSED", ran - failed - skipped)
        found.summary(NAME, place, line, Counts(passed=passed, failed=failed, errors=0, skipped=skipped, collected=ran))


def _failure(below: list[str], place: int, file: str, line: str) -> Draft:
    """What was expected to equal what: the first value is the code's in EXPECT_EQ(actual, expected)."""
    message = below[0] if below and below[0].strip() else ""
    draft = Draft(subject="", kind="test-failed", line=place + 1 if message else place, message=message)
    draft.frame = frame_at(file, line)
    if message.startswith("Expected equality of these values"):
        values = [text for text in below[1:5] if text.startswith("  ")]
        sides: list[str] = []
        for text in values:
            if (match := _WHICH.match(text)) and sides:
                sides[-1] = match[1]
            elif not text.startswith("    "):
                sides.append(text.strip())
        if len(sides) == 2:
            draft.actual, draft.expected = sides
    else:
        named = {match[1]: match[2] for text in below if (match := _OLD.match(text))}
        draft.expected, draft.actual = named.get("Expected"), named.get("Actual")
    return draft
