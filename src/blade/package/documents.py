"""Texts of a package as lines and sections; any bytes can be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LONGEST = 8_000_000
"""Bytes of one text that are read; a report or a skill is far below."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ORDINAL = re.compile(r"^(?:section\s+)?[\dA-Z]{1,3}(?:\.\d+)*[.):]\s+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]\w*")


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading with everything below it, deeper headings included."""

    title: str
    """Without its number."""
    level: int
    line: int
    """Of the heading, from 1."""
    body: tuple[str, ...]

    @property
    def words(self) -> int:
        """Words of the body that are not headings."""
        return sum(len(_WORD.findall(line)) for line in self.body if not _HEADING.match(line))


def read_text(path: Path) -> str:
    """The text of a file, without byte order mark and with plain line ends; bytes that are no text are replaced."""
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST)
    except OSError:
        return ""
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
    marks = _marks(lines)
    found = []
    for place, (number, level, title) in enumerate(marks):
        after = (line for line, other, _ in marks[place + 1 :] if other <= level)
        end = next(after, len(lines))
        body = tuple(lines[number + 1 : end])
        found.append(Section(title=_ORDINAL.sub("", title), level=level, line=number + 1, body=body))
    return tuple(found)


def _marks(lines: list[str]) -> list[tuple[int, int, str]]:
    """Line, level and title of every heading."""
    found, fence = [], ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = _HEADING.match(line) if not fence else None
        if heading:
            found.append((number, len(heading[1]), heading[2]))
    return found


def shown(path: Path, folder: Path) -> str:
    """A file as the package names it."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
