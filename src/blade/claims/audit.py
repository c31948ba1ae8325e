"""A report to an audit: every claim with what the data, and the report itself, say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from blade.claims import self_consistency as against_itself
from blade.claims.binding import judge_all
from blade.claims.comparisons import World, judged_lists, judged_words
from blade.claims.facts import Facts
from blade.claims.funnels import judged_shares
from blade.claims.judged import Judged
from blade.claims.markdown import Document, Passage, Table, parse
from blade.claims.mentions import numbers, quotes, redactions
from blade.claims.names import Names
from blade.claims.own_report import Changed, best_own, changes, pairs
from blade.claims.quotes import judged_outcomes, judged_places
from blade.claims.rollouts import Rollouts
from blade.claims.sentences import bound_numbers
from blade.claims.tables import bound_cells, table_runs
from blade.claims.values import Audit, Claim, Verdict
from blade.model.analysis import Analysis

_RANK = {Verdict.FALSE: 0, Verdict.TRUE: 1, Verdict.NOT_CHECKABLE: 2}
_WHY_NOT = {
    "number": "what it counts is not said in words that are understood",
    "quote": "no rollout is named for it",
    "id": "it exists, but nothing is said of it that can be looked up",
}
LONGEST_TEXT = 140

Spot = tuple[int, int, str]
"""Line from 0, column and kind of a claim."""


def audit(report: str, text: str, analysis: Analysis, own_texts: Sequence[str] = ()) -> Audit:
    """Every claim of a report; `own_texts` are the reports that BLADE writes for the same runs."""
    document, names = parse(text), Names(analysis)
    own = best_own(document.lines, own_texts)
    claims = {_spot(one): one for one in _mentions(document, names)}
    settled = _settle_own(document, own, claims) if own is not None else set()
    for judged in _judgements(document, names, settled):
        _take(claims, judged, settled)
    ordered = sorted(claims.values(), key=lambda one: (one.line, one.column, one.kind))
    return Audit(report=report, runs=tuple(names.runs), claims=tuple(ordered), written_by_blade=own is not None)


def _spot(claim: Claim) -> Spot:
    return claim.line - 1, claim.column, claim.kind


def _mentions(document: Document, names: Names) -> Iterator[Claim]:
    """Numbers, quotations, ids, places and redactions, none of them judged yet."""
    for passage in document.everything:
        for number in numbers(passage, names):
            yield _claim(passage, number.start, number.end, "number")
        for quote in quotes(passage):
            yield _claim(passage, quote.start, quote.end, "quote")
        places = [one for one in names.places_in(passage.text) if not one.short]
        for place in places:
            if place.task_id in names.tasks or any(shape.fullmatch(place.task_id) for shape in names.shapes):
                yield _claim(passage, place.start, place.end, "id")
        for task in names.tasks_in(passage.text):
            if not any(place.start <= task.start < place.end for place in places):
                yield _named_task(passage, task.start, task.end, names)
        for start, end in redactions(passage):
            yield replace(_claim(passage, start, end, "redaction"), verdict=Verdict.REDACTED, why="")


def _named_task(passage: Passage, start: int, end: int, names: Names) -> Claim:
    claim = _claim(passage, start, end, "id")
    if passage.text[start:end] in names.tasks:
        return claim
    runs = ", ".join(names.runs)
    return replace(claim, verdict=Verdict.FALSE, found="no such task", source=f"tasks of {runs}", why="no such task")


def _claim(passage: Passage, start: int, end: int, kind: str) -> Claim:
    line, column = passage.spots[start]
    return Claim(
        kind=kind,
        token=passage.text[start:end],
        text=_around(passage.text, start, end),
        line=line + 1,
        column=column,
        verdict=Verdict.NOT_CHECKABLE,
        why="it stands in words of somebody else" if passage.kind == "quote" else _WHY_NOT.get(kind, ""),
    )


def _around(text: str, start: int, end: int) -> str:
    """The words around a claim, cut to a length."""
    room = max(0, LONGEST_TEXT - (end - start)) // 2
    first, last = max(0, start - room), min(len(text), end + room)
    return ("..." if first else "") + text[first:last].strip() + ("..." if last < len(text) else "")


def _judgements(document: Document, names: Names, settled: set[int]) -> Iterator[Judged]:
    """What every check says of the lines that are not settled."""
    world, rollouts = World(names, Facts(names.analysis)), Rollouts(names)
    heading = Passage(kind="heading", text="", spots=())
    for passage in document.passages:
        heading = passage if passage.kind == "heading" else heading
        if passage.kind != "quote" and not _settled(passage, settled):
            yield from _of_passage(passage, heading, world, rollouts)
    for table in document.tables:
        if not all(_settled(row[0], settled) for row in table.rows if row[0].spots):
            yield from _of_table(table, world, rollouts)


def _of_passage(passage: Passage, heading: Passage, world: World, rollouts: Rollouts) -> Iterator[Judged]:
    for bound, verdict in judge_all(list(bound_numbers(passage, world.names)), world.facts):
        yield verdict
        named = list(_with_its_task(verdict, bound.scope, passage, world.names))
        yield from named or _with_its_task(verdict, bound.scope, heading, world.names)
    yield from against_itself.shares(passage, world.names)
    yield from judged_words(passage, world)
    yield from judged_places(passage, world.names, rollouts)


def _of_table(table: Table, world: World, rollouts: Rollouts) -> Iterator[Judged]:
    labels = {cell.spots[0]: row[0] for row in table.rows for cell in row if cell.spots}
    for bound, verdict in judge_all(list(bound_cells(table, world.names)), world.facts):
        yield verdict
        yield from _with_its_task(verdict, bound.scope, labels[bound.passage.spots[0]], world.names)
    yield from against_itself.totals(table, world.names)
    yield from against_itself.percentages(table, world.names)
    yield from judged_shares(table, table_runs(table, world.names), world.names, world.facts)
    yield from judged_lists(table, world)
    yield from judged_outcomes(table, world.names, rollouts)
    for cell in (cell for row in table.rows for cell in row):
        yield from against_itself.shares(cell, world.names)
        yield from judged_places(cell, world.names, rollouts)


def _with_its_task(verdict: Judged, scope: str, passage: Passage, names: Names) -> Iterator[Judged]:
    """A task of which a number holds is itself the right one."""
    kind, _, name = scope.partition(":")
    if kind != "task" or verdict.verdict is not Verdict.TRUE:
        return
    places = names.places_in(passage.text)
    for task in names.tasks_in(passage.text):
        if task.name == name and not any(place.start <= task.start < place.end for place in places):
            yield replace(verdict, passage=passage, start=task.start, end=task.end, kind="id")


def _settled(passage: Passage, settled: set[int]) -> bool:
    return bool(passage.spots) and all(line in settled for line in {spot[0] for spot in passage.spots})


def _take(claims: dict[Spot, Claim], judged: Judged, settled: set[int]) -> None:
    """A false verdict stands before a true one, and that before none."""
    if not judged.passage.spots or judged.passage.spots[judged.start][0] in settled:
        return
    claim = _claim(judged.passage, judged.start, judged.end, judged.kind)
    claim = replace(claim, verdict=judged.verdict, found=judged.found, source=judged.source, why=judged.why)
    earlier = claims.get(_spot(claim))
    if earlier is None or _RANK[judged.verdict] < _RANK.get(earlier.verdict, 0) or _first_reason(earlier, judged):
        claims[_spot(claim)] = claim


def _first_reason(earlier: Claim, judged: Judged) -> bool:
    """A particular reason stands in place of the general one."""
    return (
        earlier.verdict is judged.verdict is Verdict.NOT_CHECKABLE
        and bool(judged.why)
        and earlier.why == _WHY_NOT.get(earlier.kind)
    )


def _settle_own(document: Document, own: Sequence[str], claims: dict[Spot, Claim]) -> set[int]:
    """Judges the lines that are ours by the lines that the data gives; returns which lines they are."""
    settled: set[int] = set()
    by_line: dict[int, list[Spot]] = {}
    for spot in claims:
        by_line.setdefault(spot[0], []).append(spot)
    for pair in pairs(document.lines, own):
        settled.add(pair.line)
        source = f"the report made anew, line {pair.own + 1}"
        wrong = [] if pair.same else list(changes(document.lines[pair.line], pair.text))
        mine = by_line.get(pair.line, [])
        for spot in mine:
            claims[spot] = _own_claim(claims[spot], wrong, source)
        taken = [claims[spot] for spot in mine]
        for claim in _other_changes(document.lines[pair.line], pair.line, wrong, taken, source):
            claims[_spot(claim)] = claim
    return settled


def _own_claim(claim: Claim, wrong: Sequence[Changed], source: str) -> Claim:
    """A claim of a line of ours: true unless the words that it is made of were changed."""
    if claim.verdict is Verdict.REDACTED:
        return claim
    touching = next((one for one in wrong if _touches(claim, one)), None)
    if touching is None:
        return replace(claim, verdict=Verdict.TRUE, found=claim.token, source=source, why="")
    right = touching.right or "nothing of the kind"
    return replace(claim, verdict=Verdict.FALSE, found=right, source=source, why="the data gives another")


def _touches(claim: Claim, change: Changed) -> bool:
    end = claim.column + len(claim.token)
    return change.start < end and claim.column < max(change.end, change.start + 1)


def _other_changes(
    line: str, number: int, wrong: Sequence[Changed], claims: Sequence[Claim], source: str
) -> Iterator[Claim]:
    """Changes of words that are no number, id or quotation: of names, of `not` and `never`, or of style."""
    for change in wrong:
        if any(_touches(claim, change) for claim in claims):
            continue
        yield Claim(
            kind="wording",
            token=line[change.start : change.end],
            text=_around(line, change.start, change.end),
            line=number + 1,
            column=change.start,
            verdict=Verdict.FALSE if change.telling else Verdict.NOT_CHECKABLE,
            found=change.right or "nothing of the kind",
            source=source,
            why="the data gives another" if change.telling else "the sentence was written anew",
        )
