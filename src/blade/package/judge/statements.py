"""What a report states, clause by clause and row by row: of what, how many, in whose words, and which way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from blade.claims.binding import Sentence, sentences
from blade.claims.markdown import Document, Passage, ReportTable, parse
from blade.claims.names import plain, quotes
from blade.package.judge.amounts import Amount, amounts
from blade.package.judge.words import (
    Mention,
    axis,
    content,
    disorder,
    is_place,
    mentions,
    parts,
    spoken,
    stance,
    stem,
    task_of,
    veiled,
)

_ENDED = {
    **dict.fromkeys(["passing", "passed", "passes", "succeeded", "succeeds", "successful"], 1),
    **dict.fromkeys(["failing", "failed", "fails", "unsuccessful"], -1),
}
_ENDING = "|".join(_ENDED)
_BEFORE = re.compile(rf"\b({_ENDING})\s+(?:rollout\s+|repeat\s+)?`?$", re.IGNORECASE)
_AFTER = re.compile(
    rf"`?[\s(,]+(?:has\s+|is\s+a\s+|also\s+|which\s+|that\s+)*({_ENDING})\b(?!\s+(?:rollout|to\b|\w+#))", re.IGNORECASE
)
_SHORTENED = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|resp)\.", re.IGNORECASE)
_ID_HEADS = frozenset(["task", "id", "tasks", "task_id", "rollout", "rollouts", "example", "instance", "problem"])
LONGEST = 6000
"""Characters of a paragraph or a row; what is longer was not written to be read."""

FEWEST_RANKS = 3
"""Rows that count 1, 2, 3: two may hold these numbers by chance."""
LONGEST_TITLE = 400
_MISPLACED, _SLIPS = 0.07, 2
"""The share of misplaced small words, and how many more, that a report in sentences may have; they have 1 to 3 %."""


class Statement(Struct, frozen=True, kw_only=True):
    """A clause of a sentence, or a row of a table, in parts that can be compared."""

    line: int
    """Of the report, from 1."""
    passage: int
    """Number of the paragraph, list item or row."""
    kind: str
    """text or row."""
    text: str
    sentence: str
    """The whole sentence that a clause stands in."""
    headings: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    """Names that hold from before: of the passage or of the heading above it."""
    amounts: tuple[Amount, ...] = ()
    quotes: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    denials: int = 0
    ways: tuple[tuple[str, int], ...] = ()
    """Which way it points on each scale."""
    outcomes: tuple[tuple[str, int], ...] = ()
    """Rollouts that it says passed (1) or failed (-1)."""
    above: frozenset[str] = frozenset()
    """Names in any heading above."""
    label: str = ""
    """Of a row: what stands before its numbers, and the heads of its table."""

    @property
    def names(self) -> frozenset[str]:
        """Its own names, or else those that it goes on from."""
        return self.ids or self.about


class ReportStatements(Struct, frozen=True, kw_only=True):
    """A report as statements."""

    statements: tuple[Statement, ...]
    sections: tuple[str, ...]
    """Titles of the outermost sections below the title, in order."""
    document: Document


def read_statements(text: str) -> ReportStatements:
    """The statements of a report, in its order; words in no order of a sentence state nothing."""
    document = parse(text.encode("utf-8", errors="replace").decode("utf-8"))
    prose = [one for one in document.passages if one.kind in ("text", "quote") and 0 < len(one.text) <= LONGEST]
    found = [*_prose(prose), *(one for table in document.tables for one in _rows(table))]
    ordered = sorted(found, key=lambda one: one.line)
    # The passages are counted in the order of the report.
    numbers: dict[int, int] = {}
    statements = tuple(replace(one, passage=numbers.setdefault(one.passage, len(numbers))) for one in ordered)
    return ReportStatements(statements=statements, sections=_sections(document), document=document)


def _sections(document: Document) -> tuple[str, ...]:
    titles = [one for one in document.passages if one.kind == "heading" and one.text]
    depths = [len(one.headings) for one in titles]
    depth = 1 if depths.count(0) == 1 and len(depths) > 1 else 0
    return tuple(one.text for one in titles if len(one.headings) == depth)


def _prose(passages: Sequence[Passage]) -> Iterator[Statement]:
    looks = [disorder(veiled(one, "x")) for one in passages]
    if _is_no_language(sum(wrong for wrong, _ in looks), sum(checked for _, checked in looks)):
        return
    for number, (passage, look) in enumerate(zip(passages, looks, strict=True)):
        if not _is_no_language(2 * look[0], 2 * look[1]):
            yield from _clauses(passage, number)


def _is_no_language(wrong: int, checked: int) -> bool:
    """Whether so many small words stand where no sentence has them that it is a list, or words in no order."""
    return wrong > _MISPLACED * checked + _SLIPS


def _clauses(passage: Passage, number: int) -> Iterator[Statement]:
    names = mentions(passage)
    words = [(one.start, one.end, _plain(one.words)) for one in quotes(passage)]
    about, above = _above(passage.headings), _all_above(passage.headings)
    for clause in sentences(_masked(passage, [(start, end) for start, end, _ in words])):
        statement = _clause(passage, clause, number, names, words)
        yield replace(statement, about=about, above=above)
        about = statement.ids or about


def _masked(passage: Passage, spans: Sequence[tuple[int, int]]) -> Passage:
    """With letters for what stands in quotations and code, where a full stop ends no sentence."""
    text = passage.text
    for start, end in (*spans, *passage.code):
        text = text[:start] + "x" * (end - start) + text[end:]
    return replace(passage, text=_SHORTENED.sub(lambda found: "x" * len(found.group()), text))


def _clause(
    passage: Passage,
    clause: Sentence,
    number: int,
    names: Sequence[Mention],
    words: Sequence[tuple[int, int, str]],
) -> Statement:
    mine = [one for one in names if clause.start <= one.start < clause.end]
    quoted = [one for one in words if clause.start <= one[0] < clause.end]
    covered = [(one.start, one.end) for one in mine] + [(start, end) for start, end, _ in quoted]
    said = spoken(_without(passage.text, covered, clause.start, clause.end))
    denials, ways = stance(said)
    return Statement(
        line=_line(passage, clause.start),
        passage=number,
        kind="text",
        text=passage.text[clause.start : clause.end].strip(),
        sentence=_as_written(passage, clause.whole_start, clause.whole_end),
        headings=passage.headings,
        ids=frozenset(one.name for one in mine),
        amounts=tuple(amounts(passage, names, clause.start, clause.end)),
        quotes=frozenset(filter(None, (said for _, _, said in quoted))),
        stems=content(said),
        denials=denials,
        ways=ways,
        outcomes=tuple(_endings(passage.text, mine)),
    )


def _without(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> str:
    parts, at = [], start
    for first, last in sorted(spans):
        if first >= at:
            parts.append(text[at:first])
        at = max(at, last)
    return " ".join((*parts, text[at:end]))


def _as_written(passage: Passage, start: int, end: int) -> str:
    """A sentence with the backticks that it had."""
    text, at, parts = passage.text, start, []
    for first, last in sorted(passage.code):
        if start <= first and last <= end and first >= at:
            parts += [text[at:first], f"`{text[first:last]}`"]
            at = last
    return "".join((*parts, text[at:end])).strip()


def _line(passage: Passage, at: int) -> int:
    return passage.spots[at][0] + 1 if at < len(passage.spots) else 1


def _plain(words: str) -> str:
    """Quoted words in a form in which they can be compared; nothing when they are too few to tell."""
    told = " ".join(re.findall(r"\w+", words.lower()))
    return told if len(told) >= 10 else ""


def _above(headings: Sequence[str]) -> frozenset[str]:
    """What the nearest heading that names something names."""
    for heading in reversed(headings):
        found = mentions(Passage(kind="heading", text=heading[:LONGEST_TITLE], spots=()))
        if found:
            return frozenset(one.name for one in found)
    return frozenset()


def _all_above(headings: Sequence[str]) -> frozenset[str]:
    return frozenset(name for depth in range(len(headings)) for name in _above(headings[depth : depth + 1]))


def _endings(text: str, names: Sequence[Mention]) -> Iterator[tuple[str, int]]:
    """`failing 39#1`, `39#1 failed`."""
    for one in names:
        found = _BEFORE.search(text[max(0, one.start - 40) : one.start]) or _AFTER.match(text, one.end)
        if found and is_place(one.name):
            yield one.name.split(":")[0], _ENDED[found.group(1).lower()]


def _rows(table: ReportTable) -> Iterator[Statement]:
    firsts = [row[0].text.strip() for row in table.rows if row]
    if len(firsts) >= FEWEST_RANKS and firsts == [str(at + 1) for at in range(len(table.rows))]:
        # A rank is no amount of what the row is about.
        table = replace(table, head=table.head[1:], rows=tuple(row[1:] for row in table.rows))
    heads = [frozenset(map(stem, spoken(head.text))) for head in table.head]
    for row in table.rows:
        if 0 < sum(len(cell.text) for cell in row) <= LONGEST:
            yield _row(table, heads, row)


def _row(table: ReportTable, heads: Sequence[frozenset[str]], row: Sequence[Passage]) -> Statement:
    names: list[str] = []
    found: list[Amount] = []
    quoted: set[str] = set()
    label: list[str] = []
    before = ""
    for head, title, cell in zip(heads, table.head, row, strict=True):
        mine = mentions(cell, before)
        before = next((one.name.split(":")[0] for one in mine if is_place(one.name)), before)
        names += [one.name for one in mine] or _bare(title, cell)
        counted = amounts(cell, mine, 0, len(cell.text)) if not _bare(title, cell) else []
        found += [replace(one, unit=head, outcome=one.outcome or _pointing(title.text)) for one in counted]
        words = [(one.start, one.end, _plain(one.words)) for one in quotes(cell)]
        quoted |= {said for _, _, said in words if said}
        if not counted or label == []:
            covered = [(one.start, one.end) for one in mine] + [(start, end) for start, end, _ in words]
            label += spoken(_without(cell.text, covered, 0, len(cell.text)))
    denials, ways = stance(label)
    text = " | ".join(cell.text for cell in row)
    line = next((cell.spots[0][0] + 1 for cell in row if cell.spots), 1)
    return Statement(
        line=line,
        passage=-line,
        kind="row",
        text=text,
        sentence=text,
        headings=table.headings,
        ids=frozenset(names),
        about=_above(table.headings),
        above=_all_above(table.headings),
        amounts=tuple(found),
        quotes=frozenset(quoted),
        stems=content(label) | {stem(word) for word in label if word in _ENDED},
        denials=denials,
        ways=ways,
        outcomes=tuple(_row_endings(names, row)),
        label=_label(table, row),
    )


def _label(table: ReportTable, row: Sequence[Passage]) -> str:
    """What tells the row from the others of its table, and the table from other tables."""
    first = next((n for n, cell in enumerate(row) if n and re.match(r"[-+\u2212~]?\d", cell.text)), len(row))
    lead = " | ".join(plain(cell.text) for cell in row[: max(1, first)])
    heads = " | ".join(plain(head.text) for head in table.head)
    return f"{lead} || {heads} || {' '.join(sorted(_above(table.headings)))}"


def _bare(title: Passage, cell: Passage) -> list[str]:
    """The id in a column of ids, where nothing but the column tells that it is one."""
    one = re.fullmatch(r"[\w.-]{1,60}", cell.text)
    return [cell.text.lower()] if one and title.text.strip().lower() in _ID_HEADS and title.text[-1:] != "s" else []


def _pointing(text: str) -> int:
    signs = {found[1] for word in spoken(text) if (found := axis(word)) is not None and found[0] == "outcome"}
    return signs.pop() if len(signs) == 1 else 0


def _row_endings(names: Sequence[str], row: Sequence[Passage]) -> Iterator[tuple[str, int]]:
    said = {_ENDED[cell.text.lower()] for cell in row if cell.text.lower() in _ENDED}
    places = {name.split(":")[0] for name in names if is_place(name)}
    if len(said) == 1 and len(places) == 1:
        yield places.pop(), said.pop()


_MODEL_HEADS = re.compile(r"models?|runs?|agents?|system", re.IGNORECASE)


def models_named(reading: ReportStatements, model: str = "") -> frozenset[str]:
    """Names that stand in the title, over a column, or under `model`; what has rollouts is a task and no model."""
    document = reading.document
    tasks = {task_of(name) for one in reading.statements for name in one.ids if is_place(name)}
    titles = [one for one in document.passages if one.kind == "heading" and not one.headings]
    cells = [cell for table in document.tables for cell in table.head]
    for table in document.tables:
        if table.head and _MODEL_HEADS.fullmatch(table.head[0].text.strip()):
            cells += [row[0] for row in table.rows if row]
    titled = {one.name for passage in titles for one in mentions(passage)} if len(titles) == 1 else set()
    headed = {one.name for cell in cells for one in mentions(cell) if "_" not in one.name}
    flat = _flat(model)
    named = {name for one in reading.statements for name in one.names if flat and _flat(name) == flat}
    return frozenset((titled | headed | named) - tasks)


def run_of(statement: Statement, models: frozenset[str]) -> frozenset[str]:
    """The models that a statement is about, as far as it or the headings above it name them."""
    return (statement.ids & models) or (statement.about & models) or (statement.above & models)


def _flat(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


class StatementGroup(Struct, frozen=True, kw_only=True):
    """Some statements that stand together."""

    statements: tuple[Statement, ...]
    own: frozenset[str]
    """Names in the words themselves."""
    names: frozenset[str]
    """With those that the words go on from."""
    named: frozenset[str]
    """The names and what they are part of."""
    amounts: tuple[Amount, ...]
    quotes: frozenset[str]
    stems: frozenset[str]
    outcomes: frozenset[tuple[str, int]]

    @property
    def line(self) -> int:
        return self.statements[0].line

    @property
    def text(self) -> str:
        return " ".join(dict.fromkeys(one.sentence for one in self.statements))


def as_group(statements: Iterable[Statement]) -> StatementGroup:
    """The statements as one."""
    mine = tuple(statements)
    own = frozenset(name for one in mine for name in one.ids)
    names = own | frozenset(name for one in mine for name in one.about)
    return StatementGroup(
        statements=mine,
        own=own,
        names=names,
        named=frozenset(part for name in names for part in parts(name)),
        amounts=tuple(amount for one in mine for amount in one.amounts),
        quotes=frozenset(quote for one in mine for quote in one.quotes),
        stems=frozenset(word for one in mine for word in one.stems),
        outcomes=frozenset(each for one in mine for each in one.outcomes),
    )


def groups_of(report: ReportStatements) -> list[StatementGroup]:
    """Every part of a report in which a fact may stand; the smaller ones first."""
    passages = [list(group) for _, group in groupby(report.statements, key=lambda one: one.passage)]
    small = [
        as_group(sentence) for passage in passages for _, sentence in groupby(passage, key=lambda one: one.sentence)
    ]
    large = [as_group(passage) for passage in passages if len({one.sentence for one in passage}) > 1]
    return [*small, *large]
