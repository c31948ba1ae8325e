"""The runner of SymPy and of projects that took it over: tests by file, closing line."""

from __future__ import annotations

from blade.ingest.logs.compared import compared
from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "sympy"
MARKS = (r"= test process starts =", r"= tests finished: \d")

_FILE = pattern_of(r"(\S+\.py)\[(\d+|\?)\]")
_TEST = pattern_of(r"(test_\w+) (ok|F|E|f|X|s|w|Timeout|Skipped\b.*)(?: +\[\w+\])?$")
_HEADING = pattern_of(r"_+ (\S+\.py:\w+) _+$")
_FRAME = pattern_of(r'  File "([^"]+)", line (\d+)(?:, in (.+))?')
_RAISED = pattern_of(r"(?:\w+\.)*[A-Z]\w*(?:: |:?$)")
_END = pattern_of(r"=+ (tests finished: .*?),? in \d")
_COUNT = pattern_of(r"(\d+) (passed|failed|exceptions|skipped|expected to fail but passed|expected to fail)")
_KINDS: dict[str, EventKind] = {
    "ok": "test-passed",
    "F": "test-failed",
    "E": "test-error",
    "f": "test-passed",  # it fails as is expected of it
    "X": "test-passed",
    "Timeout": "test-failed",
}


def parse(text: PrintedText, found: Gathered) -> None:
    """Tests by the file that is printed above them; sections of failures name both."""
    tests: dict[str, Draft] = {}
    file, section = "", None
    for place, line in enumerate(text.lines, start=1):
        if "= test process starts =" in line:
            found.start(NAME)
        elif match := _FILE.match(line):
            file = match[1]
        elif line[:5] == "test_" and (match := _TEST.match(line)):
            subject = f"{file}:{match[1]}" if file else match[1]
            tests[subject] = Draft(subject=subject, kind=_KINDS.get(match[2], "test-skipped"), line=place, message=line)
        elif line[:1] == "_" and (match := _HEADING.match(line)):
            section = tests.setdefault(match[1], Draft(subject=match[1], kind="test-failed", line=place))
        elif section is not None and (match := _FRAME.match(line)):
            section.frame = frame_at(match[1], match[2], match[3])
        elif section is not None and section.frame and _RAISED.match(line):
            section.message, section.line, (section.expected, section.actual) = line, place, compared(line)
            section = None
        elif match := _END.match(line):
            _close(found, place, line, match[1])
    for draft in tests.values():
        found.add_test(NAME, draft)


def _close(found: Gathered, place: int, line: str, words: str) -> None:
    counts = {what: number(count) for count, what in _COUNT.findall(words)}
    passed = sum(counts.get(what, 0) for what in ("passed", "expected to fail", "expected to fail but passed"))
    failed, errors, skipped = (counts.get(what, 0) for what in ("failed", "exceptions", "skipped"))
    summary = Counts(passed=passed, failed=failed, errors=errors, skipped=skipped)
    found.summary(NAME, place, line.strip("= "), summary)
