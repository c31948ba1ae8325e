"""Numbers in tables, bound to their subjects by the head of the column and the label of the row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from blade.claims.binding import Bound
from blade.claims.markdown import Passage, Table
from blade.claims.mentions import Number, numbers
from blade.claims.names import BUCKETS, Names, plain

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


@dataclass(frozen=True)
class Column:
    """What a column holds: its subjects, and its run where the head names one."""

    subjects: tuple[str, ...]
    run: str | None
    scope: str = ""
    """Of a column that counts tasks of a bucket."""


@dataclass(frozen=True)
class RowLabel:
    """What a row is about: a run, a scope, or a measure."""

    run: str | None = None
    scope: str = ""
    subjects: tuple[str, ...] = ()


def bound_cells(table: Table, names: Names) -> Iterator[Bound]:
    """Each number of a table whose subject its column and row give."""
    columns = [_column(head, names) for head in table.head]
    for row in table.rows:
        label = _label(table, row, names)
        if label is None:
            continue
        for cell, column in zip(row[1:], columns[1:], strict=True):
            yield from _bound(cell, column, label, _runs(table, column, label, names), names)


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


def _label(table: Table, row: Sequence[Passage], names: Names) -> RowLabel | None:
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


def _runs(table: Table, column: Column, label: RowLabel, names: Names) -> tuple[str, ...]:
    """The run of a cell: of its column, or its row, or the table; all where none is named."""
    for run in (column.run, label.run):
        if run is not None:
            return (run,)
    return table_runs(table, names)


def table_runs(table: Table, names: Names) -> tuple[str, ...]:
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
    if cell.text[: first.start].strip(" *(") and not _lead_ok(cell.text[: first.start]):
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


def _lead_ok(text: str) -> bool:
    return bool(re.fullmatch(r"[\s*\[(+]*", text))
