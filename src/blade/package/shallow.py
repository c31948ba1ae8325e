"""A shallow baseline: the headings and aggregate numbers of a report, without diagnosis, examples, places and advice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from blade.claims.markdown import ReportTable
from blade.claims.names import Names, quotes
from blade.model.check import Check
from blade.package.documents import read_text
from blade.package.judge.statements import ReportStatements, Statement, models_named, read_statements
from blade.package.judge.words import is_place
from blade.package.layout import GoldenFiles, Package, shown
from blade.package.rollouts import PackageRollouts

FEWEST_WORDS = 10
FEW = 2
"""So many traces of a diagnosis are none."""
SHARE = 0.2
"""What it may keep of the golden report's evidence and reasons."""
MOST_KEPT = 0.5
"""What it may keep of the golden report's sentences."""
_QUOTE = re.compile(r"\"[^\"\n]{12,}\"|\u201c[^\u201d\n]{12,}\u201d")
_REASON = re.compile(
    r"\b(?:because|since|therefore|thus|hence|due to|caused?|leads? to|led to|so that|instead of|fails? to|root cause"
    r"|which means|as a result|should|recommend\w*)\b",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"aggregate.*(?:result|metric)|(?:result|metric).*aggregate|workflow.*(?:funnel|phase)", re.IGNORECASE
)
_CAUSAL = re.compile(
    r"\b(?:because|due to|since|therefore|so that|although|causes?d?|leads? to|instead|should|would|recommend\w*|fix|why)\b",
    re.IGNORECASE,
)
_MOST_SENTENCES = 6
_OUTER = 2


class DiagnosisTraces(Struct, frozen=True, kw_only=True):
    """Traces of reading: rollouts and tasks named in sentences, quotations, reasons."""

    words: int
    evidence: int
    reasons: int
    sentences: frozenset[str]


def shallow(text: str) -> str:
    """The negative control of a report: never empty, whatever the shape of the report."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    tokens = [token for token in MarkdownIt("commonmark").enable("table").parse(text) if token.map is not None]
    blocks = _aggregate_sections(tokens, lines)
    report = read_statements(text)
    if not any(block.startswith("|") for block in blocks):
        blocks = _aggregate_tables(tokens, lines, report)
    if not any(not block.startswith("#") for block in blocks):
        blocks += _aggregate_sentences(report)
    return "\n\n".join(blocks or ["# Results", "The report states no aggregate number."]) + "\n"


def _aggregate_sections(tokens: Sequence[Token], lines: Sequence[str]) -> list[str]:
    """Headings, and tables that stand directly in a section of aggregate results or of the workflow funnel."""
    blocks, inside = [], False
    for token in tokens:
        level = _level(token)
        if level:
            inside = level == _OUTER and _KEPT.search(_source(token, lines)) is not None
        if 0 < level <= _OUTER or (inside and token.type == "table_open" and token.level == 0):
            blocks.append(_source(token, lines))
    return blocks


def _aggregate_tables(tokens: Sequence[Token], lines: Sequence[str], report: ReportStatements) -> list[str]:
    """Headings of the two outermost levels, and every table that names no task and quotes nobody."""
    levels = sorted({_level(token) for token in tokens if _level(token)})[:_OUTER]
    first_lines = {
        next((cell.spots[0][0] for cell in table.head if cell.spots), -1)
        for table in report.document.tables
        if _is_aggregate(table, report)
    }
    return [
        _source(token, lines)
        for token in tokens
        if _level(token) in levels or (token.type == "table_open" and token.map and token.map[0] in first_lines)
    ]


def _level(token: Token) -> int:
    return int(token.tag[1:]) if token.type == "heading_open" and token.level == 0 else 0


def _source(token: Token, lines: Sequence[str]) -> str:
    first, last = token.map or (0, 0)
    return "\n".join(lines[first:last]).strip()


def _is_aggregate(table: ReportTable, report: ReportStatements) -> bool:
    lines = {cell.spots[0][0] + 1 for row in table.rows for cell in row if cell.spots}
    models = models_named(report)
    rows = [row for row in report.statements if row.kind == "row" and row.line in lines]
    quoted = any(quotes(cell) for row in table.rows for cell in row)
    return not quoted and not any(_names_task(row, models) for row in rows)


def _names_task(statement: Statement, models: frozenset[str]) -> bool:
    return any(is_place(name) or re.search(r"\d$", name) for name in statement.names - models)


def _aggregate_sentences(report: ReportStatements) -> Iterator[str]:
    """Sentences that hold a number and neither a task, nor a quotation, nor a cause."""
    models = models_named(report)
    sentences = [
        one.text.rstrip(" ,;:")
        for one in report.statements
        if one.kind == "text" and one.amounts and not one.quotes
        and not _names_task(one, models) and not _CAUSAL.search(one.text)
    ]  # fmt: skip
    return iter(dict.fromkeys(sentences[:_MOST_SENTENCES]))


def shallow_check(golden: GoldenFiles, package: Package, data: PackageRollouts, report: str) -> Check:
    """Whether the baseline is there, says something, and lacks what makes the golden report useful."""
    message = "D3 shallow baseline"
    fix = (
        f"make it from the golden report: `blade package make-shallow --input {golden.report.as_posix()} "
        f"--output {golden.report.with_name(golden.model + '_shallow.md').as_posix()}`"
    )
    if golden.shallow is None:
        found = f"missing; looked for golden_reports/{golden.model}_shallow.md"
        return Check(code="D3.shallow", passed=False, message=message, found=found, fix=fix)
    text, names = read_text(golden.shallow), Names(data.analysis)
    own, whole = _traces(text, names), _traces(report, names)
    fault = _fault(text, report, own, whole)
    traces = f"{own.evidence} places and quotations (golden {whole.evidence}), {own.reasons} reasons (golden {whole.reasons})"
    return Check(
        code="D3.shallow",
        passed=not fault,
        message=message,
        found=f"{shown(golden.shallow, package.folder)}: " + (f"{fault}; {traces}" if fault else traces),
        fix=fix,
    )


def _traces(text: str, names: Names) -> DiagnosisTraces:
    prose = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith(("|", "#"))]
    body = "\n".join(prose)
    places = sum(not one.short for one in names.locations_in(text))
    return DiagnosisTraces(
        words=len(re.findall(r"\w{2,}", text)),
        evidence=places + len(names.tasks_in(body)) + len(_QUOTE.findall(text)),
        reasons=len(_REASON.findall(body)),
        sentences=frozenset(" ".join(line.split()) for line in prose if len(line.split()) > 3),
    )


def _fault(text: str, report: str, own: DiagnosisTraces, whole: DiagnosisTraces) -> str:
    if own.words < FEWEST_WORDS:
        return f"it holds {own.words} words: an empty file is no control"
    if " ".join(text.split()) == " ".join(report.split()):
        return "it is the golden report itself"
    if own.evidence > max(FEW, SHARE * whole.evidence):
        return "it cites evidence"
    if own.reasons > max(FEW, SHARE * whole.reasons):
        return "it gives reasons"
    kept = len(own.sentences & whole.sentences)
    return "it keeps most sentences of the golden report" if kept > max(FEW, MOST_KEPT * len(whole.sentences)) else ""
