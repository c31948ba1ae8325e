"""CTest: one line for each test, and the closing lines."""

from __future__ import annotations

from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "ctest"
MARKS = (r"(?m)^ *\d+/\d+ Test +#\d+: ", r"(?m)^\d+% tests passed, \d+ tests failed out of \d+")

_TEST = pattern_of(r" *\d+/(\d+) Test +#\d+: (\S+) [ .]*(?:\*\*\*)?([A-Z][\w ]*?)(?::\s*([\w ]+?))? +[\d.]+ sec")
_END = pattern_of(r"\d+% tests passed, (\d+) tests failed out of (\d+)")
_KINDS: dict[str, EventKind] = {
    "Passed": "test-passed",
    "Failed": "test-failed",
    "Timeout": "test-error",
    "Exception": "test-error",
    "Not Run": "test-error",
    "Skipped": "test-skipped",
}


def parse(text: PrintedText, found: Gathered) -> None:
    """One pass over the lines."""
    for place, line in enumerate(text.lines, start=1):
        if " Test " in line and (match := _TEST.match(line)):
            found.start(NAME)
            kind = _KINDS.get(match[3], "test-failed")
            found.add_test(NAME, Draft(subject=match[2], kind=kind, line=place, message=line))
        elif "% tests passed" in line and (match := _END.match(line)):
            failed, ran = number(match[1]), number(match[2])
            counts = Counts(passed=max(0, ran - failed), failed=failed, errors=0, skipped=None, collected=ran)
            found.summary(NAME, place, line, counts)
