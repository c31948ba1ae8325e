"""A shallow baseline: the headings and aggregate numbers of a report, without diagnosis, examples, places and advice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from blade.claims.markdown import ReportTable
from blade.claims.names import quotes
from blade.package.claims import Reading, Statement, read
from blade.package.ids import is_place
from blade.package.models import models_named

_KEPT = re.compile(
    r"aggregate.*(?:result|metric)|(?:result|metric).*aggregate|workflow.*(?:funnel|phase)", re.IGNORECASE
)
_CAUSAL = re.compile(
    r"\b(?:because|due to|since|therefore|so that|although|causes?d?|leads? to|instead|should|would|recommend\w*|fix|why)\b",
    re.IGNORECASE,
)
_MOST_SENTENCES = 6
_OUTER = 2


def shallow(text: str) -> str:
    """The negative control of a report: never empty, whatever the shape of the report."""
    lines = re.split(r"\r\n|\r|\n", text)
    tokens = [one for one in MarkdownIt("commonmark").enable("table").parse("\n".join(lines)) if one.map is not None]
    kept = _as_named(tokens, lines)
    reading = read(text)
    if not any(block.startswith("|") for block in kept):
        kept = _as_found(tokens, lines, reading)
    if not any(not block.startswith("#") for block in kept):
        kept += _sentences(reading)
    return "\n\n".join(kept or ["# Results", "The report states no aggregate number."]) + "\n"


def _as_named(tokens: Sequence[Token], lines: Sequence[str]) -> list[str]:
    """Headings, and tables that stand directly in a section of aggregate results or of the workflow funnel."""
    kept, inside = [], False
    for token in tokens:
        level = _level(token)
        if level:
            inside = level == _OUTER and _KEPT.search(_source(token, lines)) is not None
            if level <= _OUTER:
                kept.append(_source(token, lines))
        elif inside and token.type == "table_open" and token.level == 0:
            kept.append(_source(token, lines))
    return kept


def _as_found(tokens: Sequence[Token], lines: Sequence[str], reading: Reading) -> list[str]:
    """Headings of the two outermost levels, and every table that names no task and quotes nobody."""
    levels = sorted({_level(token) for token in tokens if _level(token)})[:_OUTER]
    plain = {_first_line(table) for table in reading.document.tables if _is_aggregate(table, reading)}
    kept = []
    for token in tokens:
        if _level(token) in levels or (token.type == "table_open" and token.map and token.map[0] in plain):
            kept.append(_source(token, lines))
    return kept


def _level(token: Token) -> int:
    return int(token.tag[1:]) if token.type == "heading_open" and token.level == 0 else 0


def _source(token: Token, lines: Sequence[str]) -> str:
    first, last = token.map or (0, 0)
    return "\n".join(lines[first:last]).strip()


def _first_line(table: ReportTable) -> int:
    return next((cell.spots[0][0] for cell in table.head if cell.spots), -1)


def _is_aggregate(table: ReportTable, reading: Reading) -> bool:
    lines = {cell.spots[0][0] + 1 for row in table.rows for cell in row if cell.spots}
    models = models_named(reading)
    rows = [one for one in reading.statements if one.kind == "row" and one.line in lines]
    quoted = any(quotes(cell) for row in table.rows for cell in row)
    return not quoted and not any(_names_task(one, models) for one in rows)


def _names_task(statement: Statement, models: frozenset[str]) -> bool:
    return any(is_place(name) or re.search(r"\d$", name) for name in statement.names - models)


def _sentences(reading: Reading) -> Iterator[str]:
    """Sentences that hold a number and neither a task, nor a quotation, nor a cause."""
    models = models_named(reading)
    found = [
        one.text.rstrip(" ,;:")
        for one in reading.statements
        if one.kind == "text" and one.amounts and not one.quotes
        and not _names_task(one, models) and not _CAUSAL.search(one.text)
    ]  # fmt: skip
    return iter(dict.fromkeys(found[:_MOST_SENTENCES]))
