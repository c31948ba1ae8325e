"""Texts of a package: read, cut into sections, with the numbers that stand in them and the points that are still open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from blade.model.check import Check
from blade.model.errors import RequestError
from blade.package.layout import CLEARANCE, Package, shown

LONGEST = 8_000_000
"""Bytes of one text that are read; a report or a skill is far below."""
LONGEST_POINT = 120
MOST_LISTED = 5
COARSEST = 0.005
"""A fraction may be rounded to two digits and no further."""
RUN_NOTES = ("RUN_NOTES.md", "rollouts/RUN_NOTES.md", "rollouts/NOTES.md", "rollouts/README.md", "README.md")
"""Where notes on the runs may stand, the first that is there counts."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ORDINAL = re.compile(r"^(?:section\s+)?[\dA-Z]{1,3}(?:\.\d+)*[.):]\s+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]\w*")
_NUMBER = re.compile(r"(?<![\w.,#-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(\s?%|\s?percent)?(?![\w#]|[.,]\d)")
_OF = re.compile(r"(?<![\w.,])(\d[\d,]*)\s*(?:of|/|out of)\s*(?:the\s+)?(\d[\d,]*)(?![\w.]\w)")
_OPEN = "OPEN:"
_CODE = re.compile(r"`+[^`\n]{0,400}`+|\"[^\"\n]{0,400}\"|\u201c[^\u201d\n]{0,400}\u201d")
_PLACEHOLDER = re.compile(
    r"\bOPEN:|\b(?:TODO|TBD|FIXME)\b|\blorem ipsum\b"
    r"|[<\[{](?:insert|fill(?: in)?|your|describe|add|placeholder|replace)\b[^<>\[\]{}\n]{0,80}[>\]}]"
    r"|\b(?:to be (?:written|filled|completed|added)|coming soon|placeholder text)\b",
    re.IGNORECASE,
)
_CASED = re.compile(r"\b(?:open:|todo|tbd|fixme)$")


class Section(Struct, frozen=True, kw_only=True):
    """A heading with everything below it, deeper headings included."""

    title: str
    """Without its number."""
    level: int
    line: int
    """Of the heading, from 1."""
    body: tuple[str, ...]

    @property
    def words(self) -> int:
        """Words of the body, without headings and lines that are still open."""
        lines = (line for line in self.body if not is_open(line) and not _HEADING.match(line))
        return sum(len(_WORD.findall(line)) for line in lines)


class OpenPoint(Struct, frozen=True, kw_only=True):
    """A line that somebody still has to write."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class RequiredSection(Struct, frozen=True, kw_only=True):
    """A section by its usual title, the titles that mean the same, and what belongs in it."""

    title: str
    means: re.Pattern[str]
    holds: str

    def find(self, written: Sequence[Section]) -> Section | None:
        """The section that means it and says most; None when there is none."""
        # A title over everything holds every section and is none.
        inner = written[1:] if written and written[0].level == 1 else written
        meant = [section for section in inner if self.means.search(section.title)]
        return max(meant, key=lambda section: section.words, default=None)


def read_text(path: Path) -> str:
    """The text of a file, empty where it cannot be read; bytes that are no text are replaced."""
    try:
        with path.open("rb") as file:
            return decoded(file.read(LONGEST))
    except OSError:
        return ""


def read_report(path: Path, what: str) -> str:
    """The text of a file; RequestError where it cannot be read."""
    try:
        return decoded(path.read_bytes())
    except OSError as error:
        raise RequestError(
            f"cannot read the {what} {path}: {error.strerror or error}", hint="give a Markdown file that is there"
        ) from None


def decoded(data: bytes) -> str:
    """Bytes as text, without byte order mark and with plain line ends; what is no text is replaced."""
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def is_utf8(path: Path) -> bool:
    """Whether a file is text as it should be."""
    try:
        path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return True


def sections(text: str) -> tuple[Section, ...]:
    """The sections of a text in order; a heading inside a block of code is none."""
    lines = text.split("\n")
    headings: list[tuple[int, int, str]] = []
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = _HEADING.match(line) if not fence else None
        if heading:
            headings.append((number, len(heading[1]), heading[2]))
    written = []
    for position, (number, level, title) in enumerate(headings):
        end = next((line for line, other, _ in headings[position + 1 :] if other <= level), len(lines))
        body = tuple(lines[number + 1 : end])
        written.append(Section(title=_ORDINAL.sub("", title), level=level, line=number + 1, body=body))
    return tuple(written)


def decimals(text: str) -> int:
    """Digits after the point."""
    return len(text.partition(".")[2].rstrip("eE+-"))


def agrees(stated: float, digits: int, right: float) -> bool:
    """Whether a number is another one, rounded to so many digits."""
    if float(right).is_integer() and abs(right) > 1:
        return stated == right
    return abs(stated - right) <= min(0.5 * 10.0**-digits, COARSEST) + 1e-9


def numbers(text: str) -> Iterator[tuple[float, int]]:
    """Every number of a text with its digits after the point; a percentage also as the fraction it is."""
    for match in _NUMBER.finditer(text):
        whole, part, percent = match.groups()
        value = float(whole.replace(",", "") + (part or ""))
        digits = len(part or ".") - 1
        yield value, digits
        if percent:
            yield value / 100, digits + 2
    for match in _OF.finditer(text):
        part_of, whole_of = (float(number.replace(",", "")) for number in match.groups())
        if whole_of:
            yield part_of / whole_of, 9


def states(stated: Iterable[tuple[float, int]], value: float) -> bool:
    """Whether a value is one of the numbers of a text, in any of its forms."""
    return any(agrees(number, digits, value) for number, digits in stated)


def is_open(line: str) -> bool:
    """Whether a line says that something is still to be written."""
    # The mark counts wherever it stands: in JSON and in YAML it is inside quotes.
    if _OPEN in line:
        return True
    return any(not _CASED.search(match.group()) for match in _PLACEHOLDER.finditer(_CODE.sub(" ", line)))


def open_points(package: Package, part: str) -> list[OpenPoint]:
    """The open points of a deliverable in order; what stands in quotes or in code is somebody else's."""
    points = []
    for path in files_of(package, part):
        for number, line in enumerate(read_text(path).split("\n"), start=1):
            if is_open(line):
                text = line.strip(" \t-*#>|")
                text = text if len(text) <= LONGEST_POINT else text[: LONGEST_POINT - 3] + "..."
                points.append(OpenPoint(file=shown(path, package.folder), line=number, text=text))
    return points


def files_of(package: Package, part: str) -> tuple[Path, ...]:
    """The texts of a deliverable: skill, rollouts or golden."""
    if part == "skill":
        paths = [package.skill, package.rule_book]
    elif part == "rollouts":
        paths = [package.folder / CLEARANCE, notes_of(package)]
    else:
        paths = [path for one in package.goldens for path in (one.report, one.metrics, one.facts, one.shallow)]
    return tuple(path for path in paths if path is not None and path.is_file())


def notes_of(package: Package) -> Path | None:
    """The notes on the runs, where there are any."""
    paths = (package.folder / name for name in RUN_NOTES)
    return next((path for path in paths if path.is_file()), None)


def open_check(package: Package, part: str, code: str) -> Check:
    """Is everything of a deliverable written? The open points, with file and line."""
    points = open_points(package, part)
    more = f"; and {len(points) - MOST_LISTED} more" if len(points) > MOST_LISTED else ""
    return Check(
        code=code,
        passed=not points,
        message=f"{code.split('.', maxsplit=1)[0]} no open points",
        found=f"{len(points)} open: {'; '.join(map(str, points[:MOST_LISTED]))}{more}"
        if points
        else f"none in {len(files_of(package, part))} files",
        fix="write what each line asks for and take the mark away; `blade package status DIR` lists them all",
    )


def _required(title: str, means: str, holds: str) -> RequiredSection:
    return RequiredSection(title=title, means=re.compile(means, re.IGNORECASE), holds=holds)


OF_SKILL = (
    _required(
        "Overview",
        r"\boverview\b|\bintroduction\b|\bbackground\b|\bpurpose\b|\babout\b|\bsummary\b|what .*(?:measures|benchmark)",
        "task shape, target capability, reward computation, verifier behavior",
    ),
    _required(
        "Input schema",
        r"\bschema\b|\bfields?\b|(?:input|data|row|rollout|record)s?\s+(?:format|shape|layout|fields?|data)",
        "task id, rollout id, reward field, output fields, verifier fields, slicing metadata",
    ),
    _required("Workflow funnel", r"\bfunnel\b|\bstages\b", "ordered stages from started to passed"),
    _required(
        "Failure taxonomy",
        r"\btaxonomy\b|\blabels?\b|(?:failure|error)s?\s+(?:modes?|categor|types?|class|labels?|patterns?)",
        "benchmark-specific labels and detection rules",
    ),
    _required(
        "Analysis workflow",
        r"\banaly[sz](?:is|e|ing)\b|\bworkflow\b(?!\s+funnel)|\bprocedure\b|\bhow to\b|\bsteps\b|\bmethod\b",
        "metrics first, trajectory reading second, causal synthesis third",
    ),
    _required(
        "Report template",
        r"\btemplate\b|\breport(?:ing)?\b|\boutput\s+(?:format|sections?|structure)\b",
        "the Markdown sections expected in a report",
    ),
)

OF_REPORT = (
    _required(
        "Executive summary",
        r"\bexecutive\b|\bsummary\b|\boverview\b|\bkey findings\b|\btl;?dr\b",
        "the answer in short",
    ),
    _required(
        "Artifact inventory",
        r"\bartifacts?\b|\binventory\b|\b(?:input|data|source)\s+files\b|\bdata sources?\b",
        "files, rows, what is missing",
    ),
    _required(
        "Aggregate results",
        r"\baggregate\b|\bresults?\b|\bmetrics\b|\bscores?\b|\bperformance\b",
        "pass@1 and the other numbers of the run",
    ),
    _required("Workflow funnel", r"\bfunnel\b|\bstages?\b|\bpipeline\b", "stages and how many rollouts reach each"),
    _required(
        "Task outcome buckets", r"\bbuckets?\b|\boutcomes?\b", "always, sometimes, never passing and missing tasks"
    ),
    _required(
        "Dominant failure modes",
        r"(?:failure|error)s?\s+(?:modes?|taxonomy|categor|types?|class|analysis|patterns?|causes?)|\broot causes?\b|\bdominant\b",
        "how the failures failed, with counts",
    ),
    _required(
        "Sometimes-pass deep dives",
        r"\bsometimes\b|\bflaky\b|\binconsisten|\bunreliable\b|\bmixed\b|\bpartly pass",
        "what passing repeats did and failing ones did not",
    ),
    _required(
        "Never-pass deep dives",
        r"\bnever\b|\balways[- ]fail|\bunsolved\b|\bhardest\b",
        "what every repeat of a task gets wrong",
    ),
    _required(
        "Cross-model comparison",
        r"\bcross[- ]?model\b|\bcompar|\bversus\b|\bvs\b|\bother (?:models?|runs?)\b",
        "this model against the others on the tasks they share",
    ),
    _required(
        "Recommendations",
        r"\brecommend|\bnext steps\b|\binterventions?\b|\bactions?\b|\bwhat to (?:do|fix)\b|\bfixes\b",
        "what to do first, and for which tasks",
    ),
    _required(
        "Reproducibility notes",
        r"\breproduc|\bmethod(?:s|ology)?\b|\bprovenance\b",
        "model, settings, threshold, how to make the numbers again",
    ),
)
