"""The Test Anything Protocol: numbered results, directives, diagnostics in YAML."""

from __future__ import annotations

from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "tap"
MARKS = (r"(?m)^TAP version \d", r"(?m)^1\.\.\d+\s*(?:#.*)?$", r"(?m)^(?:not )?ok \d+\b", r"(?m)^Bail out!")

_RESULT = pattern_of(r"( *)(not )?ok (\d+)(?: +-)?(?: +([^#\n]*))?(?:#\s*(\w+)\b\s*(.*))?$")
_PLAN = pattern_of(r"1\.\.(\d+)\b")
_FIELD = pattern_of(r"\s+(expected|actual|wanted|found|message|error|got):\s*(\S.*)$")
_WANTED, _GOT = ("expected", "wanted"), ("actual", "found", "got")


def parse(text: PrintedText, found: Gathered) -> None:
    """Results count only where a plan or a version says what they are, or where two follow each other by number."""
    tests: list[Draft] = []
    planned: int | None = None
    declared, last, in_order = False, 0, 0
    for place, line in enumerate(text.lines, start=1):
        if line[:4] in ("ok  ", "not ") or line[:3] == "ok " or line.lstrip(" ")[:3] in ("ok ", "not"):
            if match := _RESULT.match(line):
                in_order += not match[1] and number(match[3]) == last + 1
                last = last if match[1] else number(match[3])
                tests.append(_result(match[2], match[4] or "", match[5] or "", place, line))
        elif tests and line[:1] == " " and (match := _FIELD.match(line)):
            _detail(tests[-1], match[1], match[2], place)
        elif line.startswith("TAP version "):
            declared = True
        elif match := _PLAN.match(line):
            planned, declared = number(match[1]), True
        elif line.startswith("Bail out!") and declared:
            found.add(NAME, "test-error", place, line)
    if declared or in_order > 1:
        _close(found, tests, planned)


def _result(negated: str | None, name: str, directive: str, place: int, line: str) -> Draft:
    kind: EventKind = "test-failed" if negated else "test-passed"
    if directive.lower() in ("skip", "skipped"):
        kind = "test-skipped"
    elif directive.lower() == "todo":
        kind = "test-passed"  # a test that is known to fail does not count against the run
    return Draft(subject=name.strip() or line.strip(), kind=kind, line=place, message=line)


def _detail(draft: Draft, field: str, value: str, place: int) -> None:
    value = value.strip()
    if field in _WANTED:
        draft.expected = value
    elif field in _GOT:
        draft.actual = value
    elif draft.kind == "test-failed":
        draft.message, draft.line = value, place


def _close(found: Gathered, tests: list[Draft], planned: int | None) -> None:
    found.start(NAME)
    for draft in tests:
        found.add_test(NAME, draft)
    if planned is not None and len(tests) >= planned:
        found.end(NAME)
    if planned is not None:
        kinds = [draft.kind for draft in tests]
        passed, failed, skipped = (kinds.count(kind) for kind in ("test-passed", "test-failed", "test-skipped"))
        found.totals[NAME] = Counts(passed=passed, failed=failed, errors=0, skipped=skipped, collected=planned)
