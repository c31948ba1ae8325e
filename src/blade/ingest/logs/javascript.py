"""jest, vitest, mocha and what prints like them: ticks and crosses under headings, sections of failures, totals."""

# ruff: noqa: RUF001 - the signs are those that the tools print
from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from blade.ingest.logs.compared import compared
from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind, LogFrame
from blade.model.pattern import pattern_of

NAME = "javascript"
MARKS = (
    r"(?m)^ *Tests:? +\d+ (?:failed|passed|skipped|todo)",
    r"(?m)^ +\d+ (?:passing|failing)\b",
    r"(?m)^ *(?:PASS|FAIL) +\S+\.[cm]?[jt]sx?\b",
    r"(?m)^ *[\x{2713}\x{2714}\x{2715}\x{00d7}\x{2716}] \S",
    r"Test suite failed to run",
)

_TICK = pattern_of(r"( *)([✓✔✕×✖○↓✗]|\d{1,5}\)|-(?= \S)) (\S.*?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?(?: \[skipped\])?$")
_FILE = pattern_of(r" *(PASS|FAIL) +(\S+\.[cm]?[jt]sx?)(?: \((?:\d+.*)\))?$")
_FILE_OF_VITEST = pattern_of(r" [✓❯×] (\S+\.[cm]?[jt]sx?) +\(\d+ tests?")
_SECTION = pattern_of(r" *● (\S.*)$")
_FAIL_OF_VITEST = pattern_of(r" *FAIL +(?:\|[^|]+\| +)?(\S+\.[cm]?[jt]sx?) > (.+)$")
_TITLE_OF_MOCHA = pattern_of(r"  (\d{1,5})\) (\S.*)$")
_ERROR = pattern_of(r" *((?:\w+\.)*\w*(?:Error|Exception)(?: \[[^\]]+\])?): (.+)$")
_SIDE = pattern_of(r" *(?:(Expected|Received)[^:]{0,40}:|([-+]) (?!Expected|Received|expected|actual))\s*(\S.*)$")
_STACK = pattern_of(r" *(?:at|❯) (?:(?:async )?(.+?) )?\(?((?:file://)?[^\s():]+\.[cm]?[jt]sx?):(\d+):\d+\)?$")
_PARSED = pattern_of(r" *SyntaxError: ([\w./@-]+\.[cm]?[jt]sx?): .*\((\d+):\d+\)$")
_TOTALS = pattern_of(r" *Tests:? +(\d.*)$")
_COUNT = pattern_of(r"(\d+) (failed|passed|skipped|todo|total)")
_MOCHA = pattern_of(r" +(\d+) (passing|failing|pending)\b")
_GOOD, _BAD, _LEFT_OUT = "✓✔", "✕×✖✗", "○↓-"
_MOST_UNEXPLAINED = 200
"""Failed tests that a section is compared with; a bound, so that time grows with the length alone."""
_NO_NAME = ("Test suite failed to run", "Console", "Cannot log after tests are done")


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
        self.unexplained: list[Draft] = []
        self.headings: list[tuple[int, str]] = []
        self.file = ""
        self.section: Draft | None = None
        self.mocha: dict[str, int] = {}
        self.mocha_line: tuple[int, str] = (0, "")
        self.seen = False
        self.first: tuple[int, str] | None = None
        """The first line of a section, which is its reason where no line has the form of an error."""
        self.turned = False
        """mocha marks with a plus what was expected."""
        self.declared = False
        """A file of tests or a total was printed: without one, ticks are what some program prints."""

    def read(self, place: int, line: str) -> None:
        """One line."""
        head = line.lstrip(" ")[:1]
        if not head:
            return
        if file := _file(line, head):
            self.file, self.headings, self.section, self.declared = file, [], None, True
        elif head == "●" and (match := _SECTION.match(line)):
            self._open(match[1].strip(), place)
        elif head == "F" and (match := _FAIL_OF_VITEST.match(line)):
            self._open(match[2].strip(), place)
        elif self.mocha and (match := _TITLE_OF_MOCHA.match(line)):
            self._open(match[2].rstrip(":"), place)
        elif head == "T" and (match := _TOTALS.match(line)):
            self._totals(place, line, match[1])
        elif match := _MOCHA.match(line):
            self.mocha[match[2]] = number(match[1])
            self.mocha_line = self.mocha_line if self.mocha_line[0] else (place, line)
            self.section = None
        elif self.section is not None:
            self._inside(self.section, place, line)
        elif match := _TICK.match(line):
            self._result(place, match[1], match[2], match[3])
        elif not self.mocha:
            self._heading(line)

    def _heading(self, line: str) -> None:
        """A description stands less deep than its tests."""
        depth = len(line) - len(line.lstrip(" "))
        if depth == 0 or len(line) > 200:  # results stand deeper; no description is that long
            self.headings = []
            return
        self.headings = [(at, words) for at, words in self.headings if at < depth]
        if len(self.headings) < 10:  # deeper nesting is no suite of tests
            self.headings.append((depth, line.strip()))

    def _result(self, place: int, indent: str, mark: str, name: str) -> None:
        if mark == "-" and not self.seen:
            return
        kind: EventKind = "test-passed" if mark in _GOOD else "test-skipped" if mark in _LEFT_OUT else "test-failed"
        self.seen = True
        name = name.removeprefix("skipped ") if mark == "○" else name
        above = [words for at, words in self.headings if at < len(indent)]
        subject = name if " > " in name else " › ".join([*above, name])
        self.tests[subject] = draft = Draft(subject=subject, kind=kind, line=place)
        if kind == "test-failed":
            self.unexplained.append(draft)

    def _open(self, name: str, place: int) -> None:
        self._keep()
        self.turned, self.first = False, None
        self.section = Draft(subject=name, kind="test-failed", line=place)
        if name in _NO_NAME:
            broken = name == _NO_NAME[0]
            self.section = Draft(subject=self.file, kind="collection-error", line=place) if broken else None

    def _inside(self, section: Draft, place: int, line: str) -> None:
        if self.first is None and not line.rstrip().endswith(":") and not _STACK.match(line):
            self.first = place, line.strip()
        if not section.message and (match := _ERROR.match(line)):
            section.message, section.line = line.strip(), place
            section.expected, section.actual = compared(match[2])
            section.frame = _file_named(line)
        elif not section.message and line.strip().startswith(("expect(", "Cannot find module")):
            section.message, section.line = line.strip(), place
        elif line.endswith("+ expected - actual"):
            self.turned = True
        elif self.turned and (value := line.strip())[:1] in ("-", "+"):
            self._side(section, "+" if value[0] == "-" else "-", value[1:].strip())
        elif match := _SIDE.match(line):
            self._side(section, match[1] or match[2], match[3])
        elif section.frame is None and (match := _STACK.match(line)):
            frame = frame_at(match[2], match[3], match[1])
            section.frame = frame if frame.where in ("test", "solution") else None
        elif not section.message and not section.frame and line.startswith("       ") and line.rstrip().endswith(":"):
            section.subject = f"{section.subject} › {line.strip()[:-1]}"  # mocha writes one level below the other

    def _side(self, section: Draft, side: str, value: str) -> None:
        if side in ("Expected", "-"):
            section.expected = section.expected if section.expected is not None else value
        else:
            section.actual = section.actual if section.actual is not None else value

    def _keep(self) -> None:
        """Joins a section with the test that the list of results names, whatever stands between the parts of its name."""
        if self.section is None or not self.section.subject:
            return
        if not self.section.message and self.first is not None:
            self.section.line, self.section.message = self.first
        mine = _plain(self.section.subject)
        # Sections come in the order of the results, so the one that is meant is among the first without a reason.
        first = islice(self.unexplained, _MOST_UNEXPLAINED)
        known = next((draft for draft in first if mine.endswith(_plain(draft.subject))), None)
        if known is None:
            known = self.tests.setdefault(self.section.subject, self.section)
        else:
            self.unexplained.remove(known)
        known.explain(self.section)
        self.section = None

    def _totals(self, place: int, line: str, words: str) -> None:
        self._keep()
        self.section = None
        self._summary(place, line, {what: number(count) for count, what in _COUNT.findall(words)})

    def _summary(self, place: int, line: str, counts: Mapping[str, int]) -> None:
        skipped = counts.get("skipped", 0) + counts.get("todo", 0) + counts.get("pending", 0)
        failed, passed = counts.get("failed", counts.get("failing", 0)), counts.get("passed", counts.get("passing", 0))
        total = Counts(passed=passed, failed=failed, errors=0, skipped=skipped, collected=passed + failed + skipped)
        self.found.summary(NAME, place, line, total)
        self.declared = True

    def close(self) -> None:
        """Hands over what was read."""
        self._keep()
        if self.mocha:
            self._summary(*self.mocha_line, self.mocha)
        for draft in self.tests.values() if self.declared else ():
            self.found.add_test(NAME, draft)


def _file_named(line: str) -> LogFrame | None:
    """The file that an error of a parser names before anything else; its stack is the parser's own."""
    match = _PARSED.match(line)
    frame = frame_at(match[1], match[2]) if match else None
    return frame if frame is not None and frame.where in ("test", "solution") else None


def _file(line: str, head: str) -> str | None:
    match = _FILE.match(line) if head in "PF" else _FILE_OF_VITEST.match(line) if head in "✓❯×" else None
    return match[match.lastindex or 1] if match else None


def _plain(subject: str) -> str:
    return subject.replace(" › ", " ").replace(" > ", " ").replace("1) ", "")
