"""Markdown from plain parts; everything that a rollout wrote passes through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from blade.model.pattern import pattern_of

LONGEST_CELL = 90
MOST_ROWS = 12
_MARKUP = pattern_of(r"[\\`*\[\]<>|~$]|(?<!\w)_|_(?!\w)")
"""Characters that Markdown reads as more than themselves; an underscore inside a word is not among them."""
_LINE_START = pattern_of(r"^(?:(?=[#+-])|(\d+)(?=[.)](?:\s|$)))")
"""Where a line would begin a heading or an item of a list; Markdown takes a backslash before a digit as it is."""
_SPAN = pattern_of(
    r'(?<![^\s(])(?P<quote>"(?:[^"]|"(?![\s.,;:)!?\]]|$))*")'
    r"|`(?P<name>(?:[^`]|(?<=[\s(])`[^`]*`)+)`(?![\w`])"
    r"|`(?P<cut>[^`]+\.\.\.)$",
)
"""In a sentence of a finding: words in quotation marks, a name between backticks, a name that was cut."""


def safe(text: str) -> str:
    """Text from an artifact as Markdown that shows just these characters, on one line."""
    return _LINE_START.sub(r"\1\\", safe_inside(text))


def safe_inside(text: str) -> str:
    """As `safe`, for text that does not begin a line."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split())).replace("&", "&amp;")


def spans(sentence: str) -> Iterator[tuple[Literal["plain", "quote", "name"], str]]:
    """The parts of a sentence of a finding in order; backticks that stand in a quotation are the rollout's own."""
    end = 0
    for found in _SPAN.finditer(sentence):
        yield "plain", sentence[end : found.start()]
        quoted = found["quote"] is not None
        yield "quote" if quoted else "name", found["quote"] or found["name"] or found["cut"]
        end = found.end()
    yield "plain", sentence[end:]


def printable(line: str) -> str:
    """Control characters made visible: a terminal must not obey what a rollout wrote."""
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in line)


def code(text: str) -> str:
    """Text from an artifact as inline code, on one line."""
    flat = " ".join(text.split())
    ticks = "`"
    while ticks in flat:
        ticks += "`"
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}" if flat else ""


def cut(text: str, most: int = LONGEST_CELL) -> str:
    """At most so many characters; the cut shows."""
    return text if len(text) <= most else text[: most - 3] + "..."


def cut_inside(text: str, most: int) -> str:
    """At most so many characters, of the beginning and of the end: names that belong together differ there."""
    tail = (most - 3) // 2
    return text if len(text) <= most else f"{text[: most - 3 - tail]}...{text[-tail:]}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], more: str = "", most: int = MOST_ROWS) -> list[str]:
    """A Markdown table of at most `most` rows; `more` says where the rest is."""
    body = [[_cell(cell) for cell in row] for row in rows]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body[:most]]
    if len(body) > most:
        lines.append("")
        lines.append(f"{len(body) - most:,} more{' in ' + more if more else ''}.")
    return [*lines, ""]


def _cell(text: str) -> str:
    """A bar inside a cell would end it."""
    return text.replace("\\|", "|").replace("|", "\\|")
