"""What a report says held against what else it says: shares against their counts, totals against their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from blade.claims.judged import Judged, fails, holds
from blade.claims.markdown import Passage, Table
from blade.claims.mentions import Number, numbers
from blade.claims.names import Names, plain
from blade.claims.tables import TOTAL

_OF = re.compile(r"\s*(?:of|out of|/)\s*(?:(?:the|its|all)\s+)*")
_THEN = re.compile(r"(?:\s+[\w-]+){0,5}\s*[(,=:\u2014]\s*(?:or\s+|i\.e\.,?\s+|=\s*)?|\s+or\s+")
_BEFORE = re.compile(r"%?\s*(?:\(|,|=|:)\s*")
_FEWEST_ROWS = 3
POINTS = 100


def shares(passage: Passage, names: Names) -> Iterator[Judged]:
    """`68 of 96 (70.8%)` and `70.8% (68 of 96)`: the share must be that of its counts."""
    found = numbers(passage, names)
    text = passage.text
    for first, second in pairwise(found):
        if not _OF.fullmatch(text[first.end : second.start]) or not second.value:
            continue
        index = found.index(first)
        after = found[index + 2] if index + 2 < len(found) else None
        before = found[index - 1] if index else None
        if after is not None and _is_share(after) and _THEN.fullmatch(text[second.end : after.start]):
            yield from _share(passage, first, second, after)
        elif before is not None and before.percent and _BEFORE.fullmatch(text[before.end : first.start]):
            yield from _share(passage, first, second, before, _is_mean(text[: before.start]))


def _is_share(number: Number) -> bool:
    """A fraction beside counts may be a mean over tasks, so that only percentages are taken for shares."""
    return number.percent


def _is_mean(before: str) -> bool:
    """Whether the words before a percentage make it a score, which need not be the share of the counts behind it."""
    return bool(re.search(r"(?:pass@1|score|rate|accuracy|reward)\W+(?:\w+\W+){0,2}$", before, re.IGNORECASE))


def _share(passage: Passage, part: Number, whole: Number, said: Number, mean: bool = False) -> Iterator[Judged]:
    source = f"line {passage.spots[part.start][0] + 1} itself: {part.token} of {whole.token}"
    if not _rounds_to(part.value / whole.value, said):
        if mean:
            return
        right = f"{part.value / whole.value * POINTS:.4g}%"
        yield fails(passage, (said.start, said.end), found=right, source=source, why="it is no such share")
        return
    yield holds(passage, (said.start, said.end), found=said.token, source=source)
    near = [(part.value + 1, whole.value), (part.value - 1, whole.value), (part.value, whole.value + 1)]
    if whole.value > 1 and not any(_rounds_to(a / b, said) for a, b in [*near, (part.value, whole.value - 1)]):
        for number in (part, whole):
            yield holds(passage, (number.start, number.end), found=number.token, source=source)


def _rounds_to(value: float, said: Number) -> bool:
    scaled = value * POINTS if said.percent else value
    return abs(scaled - said.value) <= 0.5 * 0.1**said.decimals + 1e-9


def totals(table: Table, names: Names) -> Iterator[Judged]:
    """A row called total must be the sum of the rows above it, in every column that counts."""
    at = [number for number, row in enumerate(table.rows) if TOTAL.match(plain(row[0].text))]
    if at != [len(table.rows) - 1] or len(table.rows) < _FEWEST_ROWS:
        return
    for column in range(1, len(table.head)):
        cells = [row[column] for row in table.rows]
        counts = [_only_count(cell, names) for cell in cells]
        broken = sum(bool(one and one.decimals) for one in counts)
        if None not in counts and broken <= 1 and _adds_up(table.head[column].text):
            yield from _total(cells, [one for one in counts if one is not None], _may_overlap(table, column))


def _may_overlap(table: Table, column: int) -> bool:
    """Tasks of two modes can be the same ones; those of two buckets or slices cannot."""
    return "task" in table.head[column].text.lower() and bool(
        re.search(r"mode|cause|label|rule", table.head[0].text.lower())
    )


def _adds_up(head: str) -> bool:
    """Rates, medians and ranks do not add up."""
    return not re.search(r"mean|median|average|rate|rank|pass@|pass\^|%|score|reward|\bk\b|repeats", head.lower())


def _only_count(cell: Passage, names: Names) -> Number | None:
    """The count of a cell, with a share beside it or alone."""
    found = numbers(cell, names)
    if not found or found[0].percent or (len(found) > 1 and not found[1].percent):
        return None
    return found[0] if not cell.text[: found[0].start].strip(" *") else None


def _total(cells: Sequence[Passage], counts: Sequence[Number], may_overlap: bool) -> Iterator[Judged]:
    *rows, total = counts
    right = sum(one.value for one in rows)
    source = f"the rows above, lines {cells[0].spots[0][0] + 1} to {cells[-2].spots[0][0] + 1}"
    if right != total.value:
        if not may_overlap:
            span = (total.start, total.end)
            yield fails(cells[-1], span, found=f"{right:,.0f}", source=source, why="the rows do not give it")
        return
    for cell, number in zip(cells, counts, strict=True):
        yield holds(cell, (number.start, number.end), found=number.token, source="the sum of the column")


def percentages(table: Table, names: Names) -> Iterator[Judged]:
    """A column of percentages beside a column of counts: each must be the share of its count in the total."""
    rows = [row for row in table.rows if not TOTAL.match(plain(row[0].text))]
    for column in range(2, len(table.head)):
        said = [_percent(row[column], names) for row in rows]
        for other in range(1, column):
            counts = [_only_count(row[other], names) for row in rows]
            if len(rows) >= _FEWEST_ROWS and None not in said and None not in counts:
                yield from _column(table, rows, column, other, names)


def _hundred(table: Table, column: int, names: Names) -> Iterator[Judged]:
    """The share that a row called total gives."""
    last = table.rows[-1]
    said = _percent(last[column], names) if TOTAL.match(plain(last[0].text)) else None
    if said is not None:
        make = holds if said.value == POINTS else fails
        yield make(last[column], (said.start, said.end), found="100%", source="the whole of the column")


def _whole(table: Table, column: int, names: Names) -> float | None:
    """What a row called total gives for a column."""
    last = table.rows[-1]
    total = _only_count(last[column], names) if TOTAL.match(plain(last[0].text)) else None
    return total.value if total is not None else None


def _percent(cell: Passage, names: Names) -> Number | None:
    found = numbers(cell, names)
    return found[0] if len(found) == 1 and found[0].percent else None


def _column(table: Table, rows: Sequence[Sequence[Passage]], column: int, other: int, names: Names) -> Iterator[Judged]:
    said = [one for row in rows if (one := _percent(row[column], names)) is not None]
    counts = [one for row in rows if (one := _only_count(row[other], names)) is not None]
    whole = _whole(table, other, names) or sum(one.value for one in counts)
    good = [bool(whole) and _rounds_to(count.value / whole, one) for count, one in zip(counts, said, strict=True)]
    if sum(good) < len(rows) - 1 or sum(good) < 2:
        return
    source = f"the column {table.head[other].text!r}"
    yield from _hundred(table, column, names)
    for row, count, one, right in zip(rows, counts, said, good, strict=True):
        cell, span = row[column], (one.start, one.end)
        if right:
            yield holds(cell, span, found=one.token, source=source)
        else:
            yield fails(cell, span, found=f"{count.value / whole * POINTS:.4g}%", source=source, why="no such share")
