"""What is still to be written: lines that say `OPEN:`, and words that stand in place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from blade.package.documents import read_text, shown
from blade.package.layout import Package

MARK = "OPEN:"
CLEARANCE = Path("rollouts", "CLEARANCE.md")
RUN_NOTES = ("RUN_NOTES.md", "rollouts/RUN_NOTES.md", "rollouts/NOTES.md", "rollouts/README.md", "README.md")
"""Where notes on the runs may stand, the first that is there counts."""
LONGEST = 120
_CODE = re.compile(r"`+[^`\n]{0,400}`+|\"[^\"\n]{0,400}\"|\u201c[^\u201d\n]{0,400}\u201d")
_STAND_IN = re.compile(
    r"\bOPEN:|\b(?:TODO|TBD|FIXME)\b|\blorem ipsum\b"
    r"|[<\[{](?:insert|fill(?: in)?|your|describe|add|placeholder|replace)\b[^<>\[\]{}\n]{0,80}[>\]}]"
    r"|\b(?:to be (?:written|filled|completed|added)|coming soon|placeholder text)\b",
    re.IGNORECASE,
)
_CASED = re.compile(r"\b(?:open:|todo|tbd|fixme)$")


@dataclass(frozen=True, kw_only=True)
class OpenPoint:
    """A line that somebody still has to write."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def open_points(path: Path, folder: Path) -> Iterator[OpenPoint]:
    """The open points of a file in order; what stands in quotes or in code is somebody else's."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if is_open(line):
            yield OpenPoint(file=shown(path, folder), line=number, text=_cut(line.strip(" \t-*#>|")))


def is_open(line: str) -> bool:
    """Whether a line says that something is still to be written."""
    # The mark counts wherever it stands: in JSON and in YAML it is inside quotes.
    if MARK in line:
        return True
    return any(not _CASED.search(found.group()) for found in _STAND_IN.finditer(_CODE.sub(" ", line)))


def files_of(package: Package, part: str) -> tuple[Path, ...]:
    """The texts of a deliverable: skill, rollouts or golden."""
    if part == "skill":
        wanted = [package.skill, package.book]
    elif part == "rollouts":
        wanted = [package.folder / CLEARANCE, notes_of(package)]
    else:
        wanted = [path for one in package.goldens for path in (one.report, one.metrics, one.facts, one.shallow)]
    return tuple(path for path in wanted if path is not None and path.is_file())


def notes_of(package: Package) -> Path | None:
    """The notes on the runs, where there are any."""
    places = (package.folder / name for name in RUN_NOTES)
    return next((place for place in places if place.is_file()), None)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
