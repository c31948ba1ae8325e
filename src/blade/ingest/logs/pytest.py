"""pytest: verbose lines, the sections of failures, the short summary, collection, and the closing line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from blade.ingest.logs.compared import NEITHER, Values, compared
from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind, LogFrame
from blade.model.pattern import pattern_of

NAME = "pytest"
MARKS = (
    r"= test session starts =",
    r"= short test summary info =",
    r"(?m)^(?:\[gw\d+\] \[ *\d+%\] )?(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) \S",
    r"::.* (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)",
    r"(?m)(?:^|=)[ =]?(?:no tests ran|\d+ (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?)\b.*) in \d",
    r"= (?:FAILURES|ERRORS) =",
    r"ERROR collecting ",
    r"INTERNALERROR>",
    r"ImportError while loading conftest",
    r"(?m)^ERROR: (?:not found|file or directory not found|found no collectors)",
)

_VERDICTS: dict[str, EventKind] = {
    "PASSED": "test-passed",
    "FAILED": "test-failed",
    "ERROR": "test-error",
    "SKIPPED": "test-skipped",
    # It failed as it was expected to, or passed although it need not; a strict one is printed as FAILED.
    "XFAIL": "test-passed",
    "XPASS": "test-passed",
}
_HEADS = frozenset("=n0123456789PFESX[!cgI")
"""How lines begin that say something anywhere: most lines of a log begin otherwise."""
_BEGINS = pattern_of(
    r"\n(?:=|no tests ran|\d+ (?:pass|fail|skip|desel|xfail|xpass|error|warn|rerun)"
    r"|\[gw|PASSED |FAILED |ERROR|SKIPPED |XFAIL |XPASS |collect|gw0 |!!|INTERNALERROR|ImportError )"
)
"""How they begin more exactly, after the line before."""
_SECTIONS = ("= FAILURES =", "= ERRORS =")
_VERBOSE = pattern_of(r"(.*) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \([^)]*\))?(?: +\[ *\d+%\])?$")
_WORKER = pattern_of(r"\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*?)\s*$")
_SUMMARY = pattern_of(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*)$")
_CLOSING = pattern_of(
    r"(=*) ?(no tests ran|\d+ (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?|rerun)\b.*?) in \d[\d.:]*(?:s|\sseconds)"
)
_COUNT = pattern_of(r"(\d+) (passed|failed|skipped|xfailed|xpassed|error)")
_COLLECTED = pattern_of(r"collected (\d+) items?|\d+ workers? \[(\d+) items?\]|gw0 \[(\d+)\]")
_HEADING = pattern_of(r"_{2,} (\S.*?) _{2,}$")
_PLACE = pattern_of(r"(\S[^:]*):(\d+): ?(in (\S+)|[\w.]+)?$")
_DEF = pattern_of(r">? +(?:async )?def (\w+)\(")
_FILE = pattern_of(r'File "([^"]+)", line (\d+)(?:, in (\S+))?')
_RAISED = pattern_of(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning)\b")
_BARE = pattern_of(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception): *$")
_BROKEN = "ERROR collecting "
_FIXTURE = pattern_of(r"ERROR at (?:setup|teardown) of (.+)")


def parse(text: PrintedText, found: Gathered) -> None:
    """Every session of the text, in order."""
    session = _Session(found, headed=False)
    for place, line in _telling(text):
        if line[:1] == "=" and "= test session starts =" in line:
            session.close()
            session = _Session(found, headed=True)
        elif line[:1] in _HEADS or session.in_failures or "::" in line:
            session.read(place, line)
    session.close()


def _telling(text: PrintedText) -> Iterable[tuple[int, str]]:
    """The lines that may say anything, by how they begin, with their numbers; all, where failures are told in sections."""
    if any(heading in text.plain for heading in _SECTIONS):
        return enumerate(text.lines, start=1)
    plain, number, counted, found = text.plain, 1, 0, []
    begun = [match.start() + 1 for match in _BEGINS.finditer(plain)]
    for start in sorted({*begun, *_lines_with(plain, "::"), 0}):
        number += plain.count("\n", counted, start)
        counted = start
        found.append((number, text.lines[number - 1]))
    return found


def _lines_with(plain: str, needle: str) -> Iterator[int]:
    """Where the lines begin that hold a string."""
    place = plain.find(needle)
    while place != -1:
        yield plain.rfind("\n", 0, place) + 1
        place = plain.find(needle, place + len(needle))


class _Session:
    """One run of pytest; what stands before the first header counts as one without a header."""

    def __init__(self, found: Gathered, *, headed: bool) -> None:
        self.found, self.headed = found, headed
        self.tests: dict[str, Draft] = {}
        self.blocks: list[_Block] = []
        self.broken: dict[str, Draft] = {}
        self.in_summary = False
        self.in_failures = False
        self.collected: int | None = None
        self.closing: tuple[int, str, Counts] | None = None
        self.interrupted: tuple[int, str] | None = None
        if headed:
            found.start(NAME)

    def read(self, place: int, line: str) -> None:
        """One line, by how it begins; most lines of a log are none of ours."""
        head = line[:1]
        if not head:
            return
        if head == "=" or "0" <= head <= "9" or head == "n":
            self._bordered(place, line)
        elif head == "_" and self.in_failures and (match := _HEADING.match(line)):
            self.blocks.append(_Block(match[1], place))
        elif self.in_failures and self.blocks and not self.in_summary:
            self.blocks[-1].read(place, line)
            return
        if head in "PFESX[":
            self._verdict_first(place, line)
        if "::" in line:
            self._verdict_last(place, line)
        if head in "!cgI":
            self._collection(place, line)

    def _bordered(self, place: int, line: str) -> None:
        if line[0] == "=":
            self.in_summary = "= short test summary info =" in line
            self.in_failures = any(heading in line for heading in _SECTIONS)
        if match := _CLOSING.match(line):
            self.closing = place, line, _counted(match[2], self.collected)
            self.headed = self.headed or not match[1]  # without a border pytest was told to be quiet: no header either
            self.in_summary = self.in_failures = False

    def _verdict_first(self, place: int, line: str) -> None:
        """The short summary, and the lines of pytest-xdist."""
        if match := _WORKER.match(line):
            self._test(match[2], match[1], place, "")
            return
        match = _SUMMARY.match(line)
        if match is None:
            if line.startswith("ERROR: ") and "not found" in line[:40]:
                self.found.add(NAME, "usage-error", place, line, line.rsplit(": ", maxsplit=1)[-1].strip())
            return
        verdict, rest = match.groups()
        name, reason = _split_reason(rest.rstrip())
        if verdict == "ERROR" and "::" not in name and self.in_summary:
            self.broken.setdefault(name, Draft(subject=name, kind="collection-error", line=place, message=reason))
        elif _is_id(name):
            self._test(name, verdict, place, reason)

    def _verdict_last(self, place: int, line: str) -> None:
        match = _VERBOSE.match(line.rstrip())
        if match and _is_id(match[1]):
            self._test(match[1].strip(), match[2], place, "")

    def _test(self, name: str, verdict: str, place: int, reason: str) -> None:
        kind, known = _VERDICTS[verdict], self.tests.get(name)
        if known is None:
            self.tests[name] = Draft(subject=name, kind=kind, line=place, message=reason)
        elif known.kind not in (kind, "test-failed"):
            known.kind, known.line, known.message = kind, place, reason or known.message
        elif reason and not known.message:
            known.message, known.line = reason, place

    def _collection(self, place: int, line: str) -> None:
        if match := _COLLECTED.match(line):
            self.collected = number(match[1] or match[2] or match[3])
        elif line.startswith("collecting "):
            self.found.start(NAME)
        elif (line.startswith("!!") and "during collection" in line) or (
            line.startswith("INTERNALERROR> ") and not line.startswith("INTERNALERROR>  ")
        ):
            self.interrupted = place, line
        elif line.startswith("ImportError while loading conftest "):
            path = line.split("'")[1] if line.count("'") > 1 else ""
            self.broken[path] = Draft(subject=path, kind="collection-error", line=place, message=line)

    def close(self) -> None:
        """Puts what was read together and hands it over."""
        self._explain()
        for draft in (*self.tests.values(), *self.broken.values()):
            self.found.add_test(NAME, draft)
        if self.interrupted and not self.broken:
            place, line = self.interrupted
            inside = line.startswith("INTERNALERROR")
            message = line.removeprefix("INTERNALERROR> ") if inside else line.strip("! ")
            self.found.add(NAME, "exception" if inside else "collection-error", place, message, message.split(":")[0])
        if self.closing:
            place, line, counts = self.closing
            self.found.summary(NAME, place, line.strip("= "), counts)
        elif self.collected is not None:
            self.found.start(NAME)
        self.found.truncated |= not self.headed and bool(self.closing)

    def _explain(self) -> None:
        """Gives each failure the account of its section: sections and failures come in the same order."""
        waiting: dict[str, list[Draft]] = defaultdict(list)
        for draft in self.tests.values():
            if draft.kind in ("test-failed", "test-error"):
                waiting[draft.subject.partition("::")[2].replace("::", ".")].append(draft)
        for block in self.blocks:
            reason = block.account()
            if reason.kind == "collection-error":
                self.broken.setdefault(reason.subject, reason).explain(reason)
            elif mine := waiting.get(reason.subject):
                mine.pop(0).explain(reason) if len(mine) > 1 else mine[0].explain(reason)
            elif reason.message:
                self.tests.setdefault(reason.subject, reason)


class _Block:
    """A section of a failure, from its heading on."""

    def __init__(self, heading: str, place: int) -> None:
        self.heading, self.place = heading, place
        self.errors: list[tuple[int, str]] = []
        self.fresh = True
        self.at: LogFrame | None = None
        self.function: str | None = None

    def read(self, place: int, line: str) -> None:
        """Keeps the last group of `E` lines, which is of the exception that was raised, and the last place."""
        head = line[0]
        if head in " >":
            if "def " in line and (match := _DEF.match(line)):
                self.function = match[1]
        elif head == "E" and line[1:4] in ("", "   "):
            if self.fresh:
                self.errors, self.fresh = [], False
            self.errors.append((place, line[1:].strip()))
        elif head != "-" and ":" in line and (match := _PLACE.match(line)):
            self.fresh = True
            self.at = frame_at(match[1], match[2], match[4] or self.function)
            self.function = None

    def account(self) -> Draft:
        """The failure as its section tells it."""
        subject, kind = self.heading, "test-failed"
        if subject.startswith(_BROKEN):
            subject, kind = subject.removeprefix(_BROKEN), "collection-error"
        elif match := _FIXTURE.match(subject):
            subject, kind = match[1], "test-error"
        place, message = next(((at, line) for at, line in self.errors if line), (self.place, ""))
        expected, actual = _values([line for _, line in self.errors])
        inner = _inner(self.errors) if message.startswith('File "') or _BARE.match(message) else None
        if inner is not None:
            place, message, self.at = inner
        return Draft(
            subject=subject,
            kind="collection-error"
            if kind == "collection-error"
            else "test-error"
            if kind == "test-error"
            else "test-failed",
            line=place,
            message=message,
            frame=self.at,
            expected=expected,
            actual=actual,
        )


def _inner(errors: list[tuple[int, str]]) -> tuple[int, str, LogFrame] | None:
    """The exception behind the last place that the lines of an error name: of a file that cannot be parsed, or of another
    process, whose whole trace is printed as the message.
    """
    at: LogFrame | None = None
    found: tuple[int, str, LogFrame] | None = None
    for place, line in errors:
        if match := _FILE.match(line):
            at = frame_at(match[1], match[2], match[3])
        elif at is not None and _RAISED.match(line):
            found = place, line, at
    return found


def _values(lines: list[str]) -> Values:
    """The two sides: of the lines that show a difference where there is one of each, else of the assertion."""
    sides = next((sides for line in lines if (sides := compared(line)) != NEITHER), NEITHER)
    gone = [line[2:] for line in lines if line.startswith("- ")]
    come = [line[2:] for line in lines if line.startswith("+ ") and not line.startswith(("+  where", "+    where"))]
    if sides != NEITHER and len(gone) == len(come) == 1 and "..." in f"{sides[0]}{sides[1]}":
        return gone[0], come[0]
    return sides


def _is_id(name: str) -> bool:
    """Whether it is a file and a test in it; words of a sentence are not."""
    path, colons, test = name.partition("::")
    return bool(colons and test) and "." in path and " " not in path


def _split_reason(rest: str) -> tuple[str, str]:
    """The id of a test and the reason behind ` - `; a parameter in brackets may hold such a dash."""
    bracket, dash = rest.find("["), rest.find(" - ")
    while dash != -1 and 0 <= bracket < dash and rest[dash - 1] != "]":
        dash = rest.find(" - ", dash + 3)
    return (rest, "") if dash == -1 else (rest[:dash], rest[dash + 3 :])


def _counted(words: str, collected: int | None) -> Counts:
    sums: dict[str, int] = defaultdict(int)
    for count, what in _COUNT.findall(words):
        sums[what] += number(count)
    return Counts(
        passed=sums["passed"] + sums["xfailed"] + sums["xpassed"],
        failed=sums["failed"],
        errors=sums["error"],
        skipped=sums["skipped"],
        collected=collected,
    )
