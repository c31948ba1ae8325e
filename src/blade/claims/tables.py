"""Numbers in tables bound by column and row, shares of funnels, and totals and shares held against their own counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from blade.claims.binding import Bound, judge
from blade.claims.facts import KnownNumbers
from blade.claims.markdown import Passage, ReportTable
from blade.claims.names import BUCKETS, Names, Number, numbers, plain
from blade.claims.values import ClaimVerdict, Judgment, fails, holds

TOTAL = re.compile(r"^(?:total|totals|sum|all|overall|all (?:tasks|rollouts|failures))$")
_SHARE = "share"
_HEADS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"pass@1|pass@1 score|(?:pass|success|solve) rate|score|accuracy|rate", ("rate",)),
    (r"fail(?:ure)? rate", ("fail_rate",)),
    (r"rollout pass rate", ("rollout_pass_rate",)),
    (r"(?:rollouts )?(?:passed|passes|pass|successes|successful)(?: rollouts)?|rollouts that passed", ("passed",)),
    (r"(?:rollouts )?(?:failed|failures|fails|fail)(?: rollouts)?", ("failed",)),
    (r"(?:number of |total )?(?:tasks|problems)", ("tasks",)),
    (r"(?:number of |total )?(?:rollouts|attempts|trials|n rollouts)", ("rollouts", "judged", "expected")),
    (r"(?:rollouts )?judged(?: rollouts)?|scored rollouts", ("judged",)),
    (r"(?:rollouts )?errored(?: rollouts)?|errors", ("errored",)),
    (r"(?:rollouts )?missing(?: rollouts)?", ("missing",)),
    (r"expected(?: rollouts)?", ("expected",)),
    (r"repeats(?: per task)?|rollouts per task|k", ("repeats",)),
    (r"(?:mean|average) reward", ("mean_reward",)),
    (
        r"(?:share|percent|percentage|of tasks|of rollouts|of (?:all )?failures|of (?:the )?(?:previous|stage before|previous stage)|)",
        (_SHARE,),
    ),
    (r"count|number|n|value|result", ("count",)),
    (r"lost|dropped|drop", ("lost",)),
)
_RANGE = re.compile(r"\s*(?:to|,|-|\u2013)\s*")
_PAIR = re.compile(r"\s*(?:of|out of|/)\s*")
_COUNTED = {"bucket": "tasks", "stage": "rollouts", "mode": "rollouts", "rule": "rollouts"}


class Column(Struct, frozen=True):
    """What a column holds: its subjects, and its run where the head names one."""

    subjects: tuple[str, ...]
    run: str | None
    scope: str = ""
    """Of a column that counts tasks of a bucket."""


class RowLabel(Struct, frozen=True):
    """What a row is about: a run, a scope, or a measure."""

    run: str | None = None
    scope: str = ""
    subjects: tuple[str, ...] = ()


def bound_cells(table: ReportTable, names: Names) -> Iterator[Bound]:
    """Each number of a table whose subject its column and row give."""
    columns = [_column(head, names) for head in table.head]
    for row in table.rows:
        label = _label(table, row, names)
        if label is None:
            continue
        for cell, column in zip(row[1:], columns[1:], strict=True):
            run = column.run or label.run
            yield from _bound(cell, column, label, (run,) if run else table_runs(table, names), names)


def meaning_of_head(text: str) -> tuple[str, ...]:
    """What the words of a head or of a row's label count; nothing when that is not known."""
    words = plain(text)
    found = re.fullmatch(r"pass([@^])(\d+|k)(?: .*)?", words)
    if found:
        kind = "pass_at" if found.group(1) == "@" else "pass_hat"
        return ("rate", "pass_at:1") if found.group(2) == "1" else (f"{kind}:{found.group(2)}",)
    usage = re.fullmatch(r"(median|mean|average|total) (input tokens|output tokens|seconds|steps|calls)", words)
    if usage:
        return (f"{usage.group(1).replace('average', 'mean')}:{usage.group(2).replace(' ', '_')}",)
    if not words and "%" not in text:
        return ()
    return next((subjects for way, subjects in _HEADS if re.fullmatch(way, words)), ())


def _column(head: Passage, names: Names) -> Column:
    runs = names.runs_in(head.text)
    rest = head.text
    for one in reversed(runs):
        rest = rest[: one.start] + rest[one.end :]
    run = runs[0].name if len(runs) == 1 else None
    bucket = _bucket(rest)
    if bucket and "share" not in plain(rest):
        return Column(("tasks",), run, f"bucket:{bucket}")
    meaning = meaning_of_head(rest)
    return Column(meaning or (("count",) if run and not plain(rest) else ()), run)


def _bucket(text: str) -> str | None:
    found = re.fullmatch(r"(always|sometimes|never)(?: pass\w*)?(?: tasks)?", plain(text))
    return BUCKETS[found.group(1)] if found else None


def _label(table: ReportTable, row: Sequence[Passage], names: Names) -> RowLabel | None:
    """What a row is about; None where its label is not understood or sums up the rows above."""
    text, words = row[0].text, plain(row[0].text)
    if TOTAL.match(words):
        return None
    field = plain(table.head[0].text).replace(" ", "_")
    if words.replace(" ", "_") in names.slice_fields and len(row) > 1:
        return _slice(words.replace(" ", "_"), row[1].text, names)
    runs = names.runs_in(text)
    if len(runs) == 1 and plain(text[runs[0].start : runs[0].end]) == words:
        return RowLabel(run=runs[0].name)
    tasks = names.tasks_in(text)
    if len(tasks) == 1 and plain(tasks[0].name) == words.removeprefix("task "):
        return RowLabel(scope=f"task:{tasks[0].name}")
    return _slice(field, text, names) or _thing(text, words, names)


def _slice(field: str, text: str, names: Names) -> RowLabel | None:
    value = text.strip().lower()
    named, _, rest = value.partition("=")
    fields = names.slices.get(value, ())
    if rest and named.strip() in names.slices.get(rest.strip(), ()):
        return RowLabel(scope=f"slice:{named.strip()}={rest.strip()}")
    if field in fields:
        return RowLabel(scope=f"slice:{field}={value}")
    return RowLabel(scope=f"slice:{fields[0]}={value}") if len(fields) == 1 and field in _SLICED else None


_SLICED = ("slice", "group", "value", "category", "")


def _thing(text: str, words: str, names: Names) -> RowLabel | None:
    """A stage, bucket, mode, rule or measure."""
    if words in names.stages and words not in ("expected", "passed"):
        return RowLabel(scope=f"stage:{names.stages[words]}")
    if bucket := _bucket(text):
        return RowLabel(scope=f"bucket:{bucket}")
    if words in names.modes:
        return RowLabel(scope=f"mode:{names.modes[words]}")
    if text.strip() in names.codes:
        return RowLabel(scope=f"rule:{text.strip()}")
    measure = meaning_of_head(text)
    if words in names.stages:
        return RowLabel(scope=f"stage:{names.stages[words]}", subjects=measure)
    return RowLabel(subjects=measure) if measure else None


def table_runs(table: ReportTable, names: Names) -> tuple[str, ...]:
    """The run that the sentence before a table or the headings above name, if they name one; else all."""
    lead = table.before if table.before.rstrip().endswith(":") else ""
    for text in (lead, *reversed(table.headings)):
        named = {one.name for one in names.runs_in(text)}
        if len(named) == 1:
            return tuple(named)
        if named:
            break
    return tuple(names.runs)


def _bound(cell: Passage, column: Column, label: RowLabel, runs: tuple[str, ...], names: Names) -> Iterator[Bound]:
    subjects, scope = _subjects(column, label)
    found = numbers(cell, names)
    if not subjects or not found or re.search(r"[~\u2248]|about|\bn/a\b", cell.text):
        return
    for number, wanted in zip(found, _forms(cell, found, subjects, scope), strict=False):
        if wanted:
            yield Bound(passage=cell, number=number, runs=runs, scope=scope, subjects=wanted)


def _subjects(column: Column, label: RowLabel) -> tuple[tuple[str, ...], str]:
    """What a cell counts, and of what."""
    if column.scope:
        return (column.subjects, column.scope) if not label.scope and not label.subjects else ((), "")
    kind = label.scope.partition(":")[0]
    if label.subjects and kind != "stage":
        return (label.subjects, "") if column.subjects == ("count",) else ((), "")
    if column.subjects == ("count",) or (kind == "stage" and "rollouts" in column.subjects):
        return ((_COUNTED[kind],) if kind in _COUNTED else (), label.scope)
    if kind in _COUNTED and "rollouts" in column.subjects:
        return ("rollouts",), label.scope
    return column.subjects, label.scope


def _forms(cell: Passage, found: Sequence[Number], subjects: tuple[str, ...], scope: str) -> list[tuple[str, ...]]:
    """What each number of a cell counts: alone, `a of b`, `low to high`, `n (share)`, `x [low, high]`."""
    between = [cell.text[a.end : b.start] for a, b in pairwise(found)]
    first = found[0]
    if not re.fullmatch(r"[\s*\[(+]*", cell.text[: first.start]):
        return []
    if between and _PAIR.fullmatch(between[0]):
        a = (
            ("passed",)
            if subjects[0] in ("rate", "passed")
            else subjects
            if subjects[0] in ("failed", "errored")
            else ()
        )
        rest: list[tuple[str, ...]] = [("rate",)] if a == ("passed",) else [()]
        return [a, ("judged", "rollouts") if a else (), *(rest if len(found) == 3 else [])]
    if len(found) == 3 and subjects[0] == "rate" and _RANGE.fullmatch(between[1]):
        return [subjects]
    if len(found) == 2 and found[1].percent and not first.percent:
        part = "rate" if subjects == ("passed",) else _SHARE if scope.partition(":")[0] in _COUNTED else ""
        return [subjects, (part,) if part else ()]
    return [subjects] if len(found) == 1 else []


READINGS = ("share_before", "share_first")
_FEWEST = 3
_HEAD = re.compile(r"(?:share|percent|percentage|rate|of .*|)")


def judged_shares(table: ReportTable, runs: Sequence[str], names: Names, facts: KnownNumbers) -> Iterator[Judgment]:
    """Columns of percentages beside stages: read in the one way that most of the column follows."""
    rows = [row for row in table.rows if plain(row[0].text) in names.stages]
    if len(rows) < _FEWEST or len(runs) != 1:
        return
    for column in range(1, len(table.head)):
        head = table.head[column].text
        if _HEAD.fullmatch(plain(head)) and (plain(head) or "%" in head):
            yield from _read(rows, column, runs[0], names, facts)


def _read(
    rows: Sequence[Sequence[Passage]], column: int, run: str, names: Names, facts: KnownNumbers
) -> Iterator[Judgment]:
    """The verdicts of the reading that fits best; none where no reading fits all cells but one."""
    readings = [_verdicts(rows, column, run, reading, names, facts) for reading in READINGS]
    best = max(readings, key=lambda made: sum(one.verdict is ClaimVerdict.TRUE for one in made))
    wrong = sum(one.verdict is not ClaimVerdict.TRUE for one in best)
    if len(best) >= _FEWEST and wrong <= 1:
        yield from best


def _verdicts(
    rows: Sequence[Sequence[Passage]], column: int, run: str, reading: str, names: Names, facts: KnownNumbers
) -> list[Judgment]:
    made = []
    for row in rows:
        scope = f"stage:{names.stages[plain(row[0].text)]}"
        found = numbers(row[column], names)
        if len(found) == 1 and found[0].percent and facts.of(run, scope, reading):
            bound = Bound(passage=row[column], number=found[0], runs=(run,), scope=scope, subjects=(reading,))
            made.append(judge(bound, facts))
    return made


_OF = re.compile(r"\s*(?:of|out of|/)\s*(?:(?:the|its|all)\s+)*")
_THEN = re.compile(r"(?:\s+[\w-]+){0,5}\s*[(,=:\u2014]\s*(?:or\s+|i\.e\.,?\s+|=\s*)?|\s+or\s+")
_BEFORE = re.compile(r"%?\s*(?:\(|,|=|:)\s*")
_FEWEST_ROWS = 3
POINTS = 100


def shares(passage: Passage, names: Names) -> Iterator[Judgment]:
    """`68 of 96 (70.8%)` and `70.8% (68 of 96)`: the share must be that of its counts."""
    found = numbers(passage, names)
    text = passage.text
    for first, second in pairwise(found):
        if not _OF.fullmatch(text[first.end : second.start]) or not second.value:
            continue
        index = found.index(first)
        after = found[index + 2] if index + 2 < len(found) else None
        before = found[index - 1] if index else None
        # A fraction beside counts may be a mean over tasks, so that only percentages are taken for shares.
        if after is not None and after.percent and _THEN.fullmatch(text[second.end : after.start]):
            yield from _judged_share(passage, first, second, after)
        elif before is not None and before.percent and _BEFORE.fullmatch(text[before.end : first.start]):
            yield from _judged_share(passage, first, second, before, _is_mean(text[: before.start]))


def _is_mean(before: str) -> bool:
    """Whether the words before a percentage make it a score, which need not be the share of the counts behind it."""
    return bool(re.search(r"(?:pass@1|score|rate|accuracy|reward)\W+(?:\w+\W+){0,2}$", before, re.IGNORECASE))


def _judged_share(
    passage: Passage, part: Number, whole: Number, said: Number, mean: bool = False
) -> Iterator[Judgment]:
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


def totals(table: ReportTable, names: Names) -> Iterator[Judgment]:
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


def _may_overlap(table: ReportTable, column: int) -> bool:
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


def _total(cells: Sequence[Passage], counts: Sequence[Number], may_overlap: bool) -> Iterator[Judgment]:
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


def percentages(table: ReportTable, names: Names) -> Iterator[Judgment]:
    """A column of percentages beside a column of counts: each must be the share of its count in the total."""
    rows = [row for row in table.rows if not TOTAL.match(plain(row[0].text))]
    for column in range(2, len(table.head)):
        said = [_percent(row[column], names) for row in rows]
        for other in range(1, column):
            counts = [_only_count(row[other], names) for row in rows]
            if len(rows) >= _FEWEST_ROWS and None not in said and None not in counts:
                yield from _judged_column(table, rows, column, other, names)


def _hundred(table: ReportTable, column: int, names: Names) -> Iterator[Judgment]:
    """The share that a row called total gives."""
    last = table.rows[-1]
    said = _percent(last[column], names) if TOTAL.match(plain(last[0].text)) else None
    if said is not None:
        make = holds if said.value == POINTS else fails
        yield make(last[column], (said.start, said.end), found="100%", source="the whole of the column")


def _total_of(table: ReportTable, column: int, names: Names) -> float | None:
    """What a row called total gives for a column."""
    last = table.rows[-1]
    total = _only_count(last[column], names) if TOTAL.match(plain(last[0].text)) else None
    return total.value if total is not None else None


def _percent(cell: Passage, names: Names) -> Number | None:
    found = numbers(cell, names)
    return found[0] if len(found) == 1 and found[0].percent else None


def _judged_column(
    table: ReportTable, rows: Sequence[Sequence[Passage]], column: int, other: int, names: Names
) -> Iterator[Judgment]:
    said = [one for row in rows if (one := _percent(row[column], names)) is not None]
    counts = [one for row in rows if (one := _only_count(row[other], names)) is not None]
    whole = _total_of(table, other, names) or sum(one.value for one in counts)
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
