"""unittest and the runner of Django: verbose lines, sections of failures, the closing lines."""

from __future__ import annotations

from blade.ingest.logs.compared import compared
from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "unittest"
MARKS = (
    r"(?m)^Ran \d+ tests? in \d",
    r"(?m) \.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$",
    r"(?m)^(?:FAIL|ERROR): \w+ \(",
)

_TEST = pattern_of(r"(\w+ \([\w.]+\)(?: \[[^\]]*\]| \([^)]*\))?)(?: \.\.\.(?: (.*))?)?$")
_VERDICT = pattern_of(r"(ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$")
_SECTION = pattern_of(r"(FAIL|ERROR): (\S+(?: \(.*\))?(?: \[.*\])?)$")
_RAN = pattern_of(r"Ran (\d+) tests? in \d")
_END = pattern_of(r"(OK|FAILED)(?: \(([\w\s=,]+)\))?$")
_COUNT = pattern_of(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")
_FRAME = pattern_of(r'\s+File "([^"]+)", line (\d+)(?:, in (.+))?')
_RAISED = pattern_of(r"((?:\w+\.)*[A-Z]\w*)(?:: |:?$)")
_LOADING = "unittest.loader._FailedTest"
_KINDS: dict[str, EventKind] = {"ok": "test-passed", "FAIL": "test-failed", "ERROR": "test-error"}


def parse(text: PrintedText, found: Gathered) -> None:
    """One pass over the lines."""
    reader = _Reader(found)
    for place, line in enumerate(text.lines, start=1):
        reader.read(place, line)
    reader.close()


class _Reader:
    def __init__(self, found: Gathered) -> None:
        self.found = found
        self.tests: dict[str, Draft] = {}
        self.waiting: str | None = None
        """A test whose line began and whose verdict has not come: output of the test may stand between."""
        self.section: Draft | None = None
        self.ran: tuple[int, str] | None = None

    def read(self, place: int, line: str) -> None:
        """One line; a section of a failure lasts until a line of `=` or `-` ends it."""
        if self.section is not None:
            self._inside(self.section, place, line)
        elif line[:1] in "FE" and (match := _SECTION.match(line)):
            self._open(match[1], match[2], place)
        elif line[:4] == "Ran " and (match := _RAN.match(line)):
            self.ran = number(match[1]), line
        elif self.ran is not None and (match := _END.match(line)):
            self._close_session(place, line, match[1], match[2] or "")
        elif self.waiting or " (" in line or " ... " in line:
            self._result(place, line)

    def _result(self, place: int, line: str) -> None:
        before, dots, verdict = line.rpartition(" ... ")
        if " ... " in before:  # a test that says nothing at its end, and the next one behind it
            line = line[before.rindex(" ... ") + 5 :]
        if " (" in line and (match := _TEST.match(line)) and "." in match[1]:
            self.waiting = match[1]
            self.found.start(NAME)
        if dots and _VERDICT.match(verdict):
            self._test(self.waiting or (before if "." in before and "(" in before else ""), verdict, place)
        elif self.waiting and line[:2] in ("ok", "FA", "ER", "sk", "ex", "un") and _VERDICT.match(line):
            self._test(self.waiting, line, place)

    def _test(self, subject: str, verdict: str, place: int) -> None:
        self.waiting = None
        if subject:
            kind = _KINDS.get(verdict, "test-passed" if verdict == "expected failure" else "test-failed")
            if verdict.startswith("skipped"):
                kind = "test-skipped"
            reason = verdict.partition(" ")[2].strip("'\"") if kind == "test-skipped" else ""
            self.tests[subject] = Draft(subject=subject, kind=kind, line=place, message=reason)

    def _open(self, verdict: str, subject: str, place: int) -> None:
        self.waiting = None
        kind: EventKind = "collection-error" if _LOADING in subject else _KINDS[verdict]
        self.section = Draft(subject=subject, kind=kind, line=place)

    def _inside(self, section: Draft, place: int, line: str) -> None:
        if line.startswith(("======", "------")):
            if section.message or line[0] == "=" or place - section.line > 2:
                self._keep(section)
                self.section = None
        elif match := _FRAME.match(line):
            section.frame = frame_at(match[1], match[2], match[3])
        elif section.frame and not section.message and _RAISED.match(line):
            section.message, section.line = line, place
            section.expected, section.actual = compared(line)
        elif line.startswith(("During handling of", "The above exception was")):
            section.message = ""  # the last exception of a chain was raised

    def _keep(self, section: Draft) -> None:
        """Joins a section with the line of its test; a subtest has a section of its own."""
        known = self.tests.get(section.subject)
        self.tests[section.subject] = section
        if known is None and (whole := self.tests.get(_whole(section.subject))) and whole.kind == "test-passed":
            whole.kind = section.kind  # a runner that is not verbose about a test may print `ok` for the rest of it

    def _close_session(self, place: int, line: str, verdict: str, words: str) -> None:
        counts = {what: number(count) for what, count in _COUNT.findall(words)}
        ran = self.ran[0] if self.ran else 0
        failed = counts.get("failures", 0) + counts.get("unexpected successes", 0)
        errors, skipped = counts.get("errors", 0), counts.get("skipped", 0)
        summary = Counts(
            passed=max(0, ran - failed - errors - skipped), failed=failed, errors=errors, skipped=skipped, collected=ran
        )
        self.found.summary(NAME, place, line, summary)
        self.ran = None

    def close(self) -> None:
        """Hands over what was read."""
        if self.section is not None and self.section.message:
            self._keep(self.section)
        for draft in self.tests.values():
            self.found.add_test(NAME, draft)


def _whole(subject: str) -> str:
    """The test that a subtest belongs to."""
    return subject.partition(")")[0] + ")"
