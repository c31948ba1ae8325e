"""Maven Surefire, Gradle and JUnit's console: totals by class, failed methods, what they expected."""

from __future__ import annotations

from blade.ingest.logs.frame import first_own_frame, frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, added, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "java-tests"
MARKS = (
    r"Tests run: \d+, Failures: \d+, Errors: \d+",
    r"<<< (?:FAILURE|ERROR)!",
    r"(?m)^\S+ > .* (?:PASSED|FAILED|SKIPPED)$",
    r"COMPILATION ERROR",
)

_LEVEL = r"(?:\[(?:INFO|ERROR|WARNING)\] +)?"
_RUN = pattern_of(
    _LEVEL
    + r"Tests run: (\d+), Failures: (\d+), Errors: (\d+)(?:, Skipped: (\d+))?(, Time elapsed: [\d.,]+ ?m?s(?:ec)?)?"
)
_METHOD = pattern_of(
    _LEVEL
    + r"(?:(\w+)\(([\w.$]+)\)|([\w.$]+\.\w+(?:\([^)]*\))?))\s+(?:-- )?Time elapsed: [\d.]+ s(?:ec)?\s+<<< (FAILURE|ERROR)!"
)
_GRADLE = pattern_of(r"(\S+) > (\S.*) (PASSED|FAILED|SKIPPED)$")
_RAISED = pattern_of(r"\s*((?:\w+\.)+\w*(?:Error|Exception|Failure|Failed\w*)): ?(.*)$")
_SIDES = pattern_of(r".*?expected: ?(.*?) but was: ?(.*)$")
_OLD_SIDES = pattern_of(r".*?expected:<(.*?)> but was:<(.*)>$")
_COMPILE = pattern_of(r"\[ERROR\] +(/\S+\.(?:java|kt|scala)):\[(\d+),\d+\] (.+)$")
_KINDS: dict[str, EventKind] = {
    "PASSED": "test-passed",
    "FAILED": "test-failed",
    "SKIPPED": "test-skipped",
    "FAILURE": "test-failed",
    "ERROR": "test-error",
}


def parse(text: PrintedText, found: Gathered) -> None:
    """A line without a time is the total of Maven, one with a time that of a class."""
    classes: Counts | None = None
    for place, line in enumerate(text.lines, start=1):
        if "Tests run: " in line and (match := _RUN.match(line)):
            counts = _counts(match[1], match[2], match[3], match[4])
            classes = added(classes, counts) if match[5] else classes
            found.summary(NAME, place, line, counts)
            found.totals[NAME] = (classes or counts) if match[5] else counts
        elif "<<< " in line and (match := _METHOD.match(line)):
            last = Draft(
                subject=_subject(match[1], match[2], match[3]), kind=_KINDS[match[4]], line=place, message=line
            )
            _explain(text, place, last)
            found.add_test(NAME, last)
        elif line.endswith(("PASSED", "FAILED", "SKIPPED")) and " > " in line and (match := _GRADLE.match(line)):
            last = Draft(subject=f"{match[1]}.{match[2]}", kind=_KINDS[match[3]], line=place, message=line)
            if last.kind == "test-failed":
                _explain(text, place, last)
            found.add_test(NAME, last)
        elif line.startswith("[ERROR] /") and (match := _COMPILE.match(line)):
            found.add(NAME, "collection-error", place, match[3], match[1], frame=frame_at(match[1], match[2]))


def _subject(method: str | None, group: str | None, whole: str | None) -> str:
    return whole or f"{group}.{method}"


def _counts(ran: str, failures: str, errors: str, skipped: str | None) -> Counts:
    total, failed, broken, left = number(ran), number(failures), number(errors), number(skipped)
    passed = max(0, total - failed - broken - left)
    return Counts(passed=passed, failed=failed, errors=broken, skipped=left, collected=total)


def _explain(text: PrintedText, place: int, draft: Draft) -> None:
    """Reads the exception and the stack below a failed method."""
    below = text.lines[place : place + 40]  # stacks of tests reach the test within a few frames of the runner
    for offset, line in enumerate(below[:3], start=1):
        if match := _RAISED.match(line):
            draft.message, draft.line = line.strip(), place + offset
            sides = _OLD_SIDES.match(match[2]) or _SIDES.match(match[2])
            draft.expected, draft.actual = (sides[1], sides[2]) if sides else (None, None)
            draft.frame = first_own_frame(below[offset:])
            return
