"""A report as passages: plain text with the line and column of every character, and where in the report it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct, field

_LEAD = re.compile(r"^\s*(?:>\s?|(?:[-*+]|\d{1,9}[.)])\s+|#{1,6}\s+)*")
_ORDINAL = re.compile(r"^(?:section\s+)?\d+(?:\.\d+)*[.):]?\s+", re.IGNORECASE)
_TICKS = re.compile(r"`+")
_LINK = re.compile(r"(?<!\\)!?(?<!\\)\[([^\]\[]*)\]\([^)\s]*(?:\s[^)]*)?\)")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": " "}
_ESCAPABLE = set("\\`*_{}[]()#+-.!|~$<>&\"'%,/:;=?@^")

Spot = tuple[int, int]
"""Line from 0, and column."""


class Passage(Struct, frozen=True, kw_only=True):
    """One paragraph, list item, heading or table cell."""

    kind: str
    """heading, text, cell or quote."""
    text: str
    """Without markup."""
    spots: tuple[Spot, ...]
    """For each character of the text, where it stands in the report."""
    code: tuple[tuple[int, int], ...] = ()
    """Ranges of the text that were between backticks."""
    headings: tuple[str, ...] = ()
    """The headings above, outermost first."""


class ReportTable(Struct, frozen=True, kw_only=True):
    """A table with all cells of a row at the width of its head."""

    head: tuple[Passage, ...]
    rows: tuple[tuple[Passage, ...], ...]
    headings: tuple[str, ...] = ()
    before: str = ""
    """The paragraph that leads to it."""


class Document(Struct, frozen=True, kw_only=True):
    """What a report says, in its order."""

    lines: tuple[str, ...]
    passages: tuple[Passage, ...]
    """Everything outside tables and code blocks."""
    tables: tuple[ReportTable, ...]

    @property
    def everything(self) -> tuple[Passage, ...]:
        """Passages and cells, in the order of the report."""
        cells = [cell for table in self.tables for row in (table.head, *table.rows) for cell in row]
        return tuple(sorted((*self.passages, *cells), key=lambda one: one.spots[0] if one.spots else (0, 0)))


class _Reading(Struct):
    lines: list[str]
    headings: list[tuple[int, str]] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)

    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self.headings)


def parse(text: str) -> Document:
    """The report as passages and tables; any text can be parsed."""
    lines = re.split(r"\r\n|\r|\n", text)
    reading = _Reading(lines)
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(lines))
    quoted = 0
    for number, token in enumerate(tokens):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.map is None:
            continue
        if token.type == "heading_open":
            _take_heading(reading, token)
        elif token.type == "paragraph_open":
            _take_text(reading, token.map, "quote" if quoted else "text")
        elif token.type == "table_open":
            _take_table(reading, tokens[number:], token.level)
    return Document(lines=tuple(lines), passages=tuple(reading.passages), tables=tuple(reading.tables))


def _take_heading(reading: _Reading, token: Token) -> None:
    level, (first, _) = int(token.tag[1:]), token.map or (0, 1)
    passage = _passage("heading", reading, [(first, _body(reading.lines[first]))])
    found = _ORDINAL.match(passage.text)
    start = found.end() if found else 0
    while reading.headings and reading.headings[-1][0] >= level:
        reading.headings.pop()
    reading.passages.append(
        Passage(kind="heading", text=passage.text[start:], spots=passage.spots[start:], headings=reading.path())
    )
    reading.headings.append((level, passage.text[start:]))


def _take_text(reading: _Reading, lines: Sequence[int], kind: str) -> None:
    first, last = lines
    parts = [(number, _body(reading.lines[number])) for number in range(first, min(last, len(reading.lines)))]
    reading.passages.append(_passage(kind, reading, parts))


def _take_table(reading: _Reading, tokens: Sequence[Token], level: int) -> None:
    rows: list[tuple[Passage, ...]] = []
    for token in tokens:
        if token.type == "table_close" and token.level == level:
            break
        if token.type == "tr_open" and token.map is not None:
            number = token.map[0]
            cells = _cells(reading.lines[number])
            rows.append(tuple(_passage("cell", reading, [(number, cell)]) for cell in cells))
    if len(rows) < 2:
        return
    width, (head, *body) = len(rows[0]), rows
    empty = Passage(kind="cell", text="", spots=(), headings=reading.path())
    level_rows = tuple((*row, *[empty] * (width - len(row)))[:width] for row in body)
    before = reading.passages[-1].text if reading.passages else ""
    reading.tables.append(ReportTable(head=head, rows=level_rows, headings=reading.path(), before=before))


def _body(line: str) -> tuple[int, str]:
    """The line from where its words begin."""
    found = _LEAD.match(line)
    start = found.end() if found else 0
    return start, line[start:]


def _cells(line: str) -> list[tuple[int, str]]:
    """The cells of a table row, each with its first column."""
    bars = [found.start() for found in re.finditer(r"(?<!\\)(?:\\\\)*\|", line)]
    inner = [bar for bar in bars if line[:bar].strip()]
    edges = [bars[0] if len(inner) < len(bars) and bars else -1, *inner]
    if line[edges[-1] + 1 :].strip() or len(edges) == 1:
        edges.append(len(line))
    return [(start + 1, line[start + 1 : end]) for start, end in pairwise(edges)]


def _passage(kind: str, reading: _Reading, parts: Sequence[tuple[int, tuple[int, str]]]) -> Passage:
    text: list[str] = []
    spots: list[Spot] = []
    code: list[tuple[int, int]] = []
    for line, (offset, raw) in parts:
        if text:
            text.append(" ")
            spots.append((line - 1, len(reading.lines[line - 1])))
        ticked: int | None = None
        for position, shown, event in _characters(raw):
            if event == "code" and ticked is None:
                ticked = len(text)
                continue
            if event == "code" and ticked is not None:
                code.append((ticked, len(text)))
                ticked = None
                continue
            text.append(shown)
            spots.append((line, offset + position))
    left = len(text) - len("".join(text).lstrip())
    right = len("".join(text).rstrip())
    return Passage(
        kind=kind,
        text="".join(text)[left:right],
        spots=tuple(spots[left:right]),
        code=tuple((start - left, end - left) for start, end in code),
        headings=reading.path(),
    )


def _characters(raw: str) -> Iterator[tuple[int, str, str]]:
    """Each character that a reader sees, with its column; backticks come as events."""
    ticks, position = "", 0
    hidden = _hidden(raw)
    while position < len(raw):
        char = raw[position]
        run = _TICKS.match(raw, position) if char == "`" else None
        if run and (run.group() == ticks or (not ticks and raw.find(run.group(), run.end()) >= 0)):
            ticks = "" if ticks else run.group()
            yield position, "", "code"
            position = run.end()
            continue
        entity = next((name for name in _ENTITIES if raw.startswith(name, position)), None) if char == "&" else None
        if ticks or not (position in hidden or char in "*\\" or entity):
            yield position, char, ""
        elif entity:
            yield position, _ENTITIES[entity], ""
            position += len(entity) - 1
        elif char == "\\":
            after = raw[position + 1 : position + 2]
            escaped = after in _ESCAPABLE and bool(after)
            yield position + escaped, after if escaped else char, ""
            position += escaped
        position += 1


def _hidden(raw: str) -> set[int]:
    """Columns of links' addresses and brackets, and of tags."""
    hidden: set[int] = set()
    for found in _LINK.finditer(raw):
        hidden.update(range(found.start(), found.start(1)), range(found.end(1), found.end()))
    for tag in re.finditer(r"(?<!\\)</?[A-Za-z][^<>\n]{0,200}>|(?<!\w)__|__(?!\w)", raw):
        hidden.update(range(*tag.span()))
    return hidden
