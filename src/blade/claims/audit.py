"""A report to an audit: the data that it speaks of, loaded as the report says it was, and every claim held against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

from msgspec.structs import replace

from blade.analysis import analyze, load
from blade.claims.binding import bound_numbers, judge_all
from blade.claims.comparisons import World, judged_lists, judged_words
from blade.claims.facts import KnownNumbers
from blade.claims.markdown import Document, Passage, ReportTable, parse
from blade.claims.names import Names, numbers, quotes, redactions
from blade.claims.own_report import Changed, ReportOptions, best_own, changes, options_stated, pairs
from blade.claims.quotes import Rollouts, judged_locations, judged_outcomes
from blade.claims.tables import bound_cells, judged_shares, percentages, shares, table_runs, totals
from blade.claims.values import Audit, Claim, ClaimVerdict, Judgment
from blade.custom_rules.find_rule_book import rule_book_named
from blade.findings.exclusions import check_exclusions
from blade.ingest.artifacts import find
from blade.model.analysis import Analysis
from blade.model.diagnosis import Label
from blade.model.errors import RequestError
from blade.model.finding import Cause
from blade.model.options import Options
from blade.model.run import Run
from blade.report.sections import report as analysis_report

_RANK = {ClaimVerdict.FALSE: 0, ClaimVerdict.TRUE: 1, ClaimVerdict.NOT_CHECKABLE: 2}
_WHY_NOT = {
    "number": "what it counts is not said in words that are understood",
    "quote": "no rollout is named for it",
    "id": "it exists, but nothing is said of it that can be looked up",
}
LONGEST_TEXT = 140
READERS = "**Readers.** "
"""How a report says that readers' attributions were used: without them it cannot be made again."""

Spot = tuple[int, int, str]
"""Line from 0, column and kind of a claim."""


def audit(report: str, text: str, inputs: Sequence[str], options: Options, beside: str | None = None) -> Audit:
    """The claims of a report against the runs of the inputs, and against each other; without inputs only the latter.

    What the report says it was asked for is asked again: what to leave out, the threshold, the package, the verdicts of
    people, which are looked for `beside` the report too. Where that cannot be had it is read as a foreign report.
    """
    if not inputs:
        return audit_analysis(report, text, Analysis(runs=()))
    stated = options_stated(text)
    options = _as_asked(options, stated, [*inputs, *([beside] if beside else [])])
    runs = load(inputs, options)
    if stated.expects and runs[0].roots and stated.expects != runs[0].tasks["repeats_expected"].sum():
        ways = [options, *(() if find(inputs).analyses else _expecting(options, runs[0], stated.expects))]
        made = [_audited(report, text, load(inputs, way), way, stated) for way in ways]
        return min(made, key=lambda one: len(one.false))
    return _audited(report, text, runs, options, stated)


def _audited(report: str, text: str, runs: Sequence[Run], options: Options, stated: ReportOptions) -> Audit:
    """The audit of a report under the options that it was made with, as far as they are known."""
    whole = _before_exclusions(runs, options)
    unread = READERS in text and not any(run.readings.used for run in runs)
    if whole is None or unread or not _can_be_made_again(whole, stated, options):
        return audit_report(report, text, analyze(runs, options))
    exclude = _can_exclude(whole, stated.exclude)
    return audit_analysis(report, text, analyze(whole, replace(options, exclude=exclude)))


def _expecting(options: Options, run: Run, expected: int) -> list[Options]:
    """The options under which so many rollouts may have been expected of a run: by its repeats, or by its tasks."""
    repeats_ = int(str(run.tasks["repeats_expected"].max() or 1))
    return [
        replace(options, expect_repeats=max(1, expected // max(1, run.tasks.height))),
        replace(options, expect_tasks=max(1, expected // repeats_)),
    ]


def _can_be_made_again(runs: Sequence[Run], stated: ReportOptions, options: Options) -> bool:
    """Whether everything that the report says it was asked for is at hand."""
    return (
        (options.rule_book is not None or not stated.package)
        and (bool(options.labels) or not stated.labelled)
        and (not stated.grouped or any(run.tasks["group"].count() for run in runs))
    )


def _as_asked(options: Options, stated: ReportOptions, places: Sequence[str]) -> Options:
    """The options with what a report says where the user said nothing."""
    return replace(
        options,
        pass_threshold=options.pass_threshold if options.pass_threshold is not None else stated.pass_threshold,
        metrics_only=options.metrics_only or stated.metrics_only,
        rule_book=options.rule_book or rule_book_named(stated.package, map(Path, places)),
        labels=options.labels or tuple(_labels_beside(places)),
        attributions_in=(*options.attributions_in, *(Path(place) for place in places if Path(place).is_dir())),
    )


def _before_exclusions(runs: Sequence[Run], options: Options) -> tuple[Run, ...] | None:
    """The runs with what an earlier analysis left out of them; None when their artifacts are gone."""
    if not any(run.excluded for run in runs):
        return tuple(runs)
    files = [run.roots.get(each.path, "") for run in runs for each in run.artifacts if each.role == "rollouts"]
    if not files or not all(Path(file).exists() for file in files):
        return None
    fresh = load(files, options)
    return fresh if {run.name for run in fresh} == {run.name for run in runs} else None


def _can_exclude(runs: Sequence[Run], exclude: Sequence[str]) -> tuple[str, ...]:
    """Exclusions that the runs can follow; one with a slip of the pen is left to the claims."""
    try:
        check_exclusions(runs, exclude, [])
    except RequestError:
        return ()
    return tuple(exclude)


def _labels_beside(inputs: Sequence[str]) -> Iterator[Label]:
    """Verdicts of people that an earlier analysis counted."""
    for table in (table for path in inputs for table in sorted(Path(path).glob("*/tasks.jsonl"))):
        # `splitlines` would cut at U+2028, which may stand in a task id.
        for row in map(json.loads, filter(None, table.read_bytes().split(b"\n"))):
            if row.get("decided_by") == "person":
                cause = Cause(row["cause"]) if row["cause"] is not None else None
                yield Label(task_id=row["task_id"], cause=cause, note=row["because"])


def audit_analysis(report: str, text: str, analysis: Analysis) -> Audit:
    """The claims of a report against an analysis; a report that BLADE itself wrote of it is checked word for word."""
    return audit_report(report, text, analysis, tuple(_own_texts(text, analysis)))


def _own_texts(text: str, analysis: Analysis) -> Iterator[str]:
    """What BLADE writes about the runs, of the kind that the report is."""
    if not analysis.runs:
        return
    if "## Where the change came from" in text:
        # Few reports are about a comparison or a benchmark, and both take a while to load.
        from blade.comparison.compare import MARGIN, compare_analyzed
        from blade.comparison.report import comparison_report

        for first, second in permutations(analysis.runs, 2):
            yield comparison_report(compare_analyzed(first, second, MARGIN))
    elif "## What it takes to see an effect" in text:
        from blade.benchmark_health.health import health_of_analyzed
        from blade.benchmark_health.report import health_report

        yield health_report(health_of_analyzed(analysis.runs))
    else:
        yield analysis_report(analysis)


def audit_report(report: str, text: str, analysis: Analysis, own_texts: Sequence[str] = ()) -> Audit:
    """Every claim of a report against an analysis; `own_texts` are the reports that BLADE writes for the same runs."""
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
        places = [one for one in names.locations_in(passage.text) if not one.short]
        for place in places:
            if place.task_id in names.tasks or any(shape.fullmatch(place.task_id) for shape in names.shapes):
                yield _claim(passage, place.start, place.end, "id")
        for task in names.tasks_in(passage.text):
            if not any(place.start <= task.start < place.end for place in places):
                yield _named_task(passage, task.start, task.end, names)
        for start, end in redactions(passage):
            yield replace(_claim(passage, start, end, "redaction"), verdict=ClaimVerdict.REDACTED, why="")


def _named_task(passage: Passage, start: int, end: int, names: Names) -> Claim:
    claim = _claim(passage, start, end, "id")
    if passage.text[start:end] in names.tasks:
        return claim
    runs = ", ".join(names.runs)
    return replace(
        claim, verdict=ClaimVerdict.FALSE, found="no such task", source=f"tasks of {runs}", why="no such task"
    )


def _claim(passage: Passage, start: int, end: int, kind: str) -> Claim:
    line, column = passage.spots[start]
    return Claim(
        kind=kind,
        token=passage.text[start:end],
        text=_around(passage.text, start, end),
        line=line + 1,
        column=column,
        verdict=ClaimVerdict.NOT_CHECKABLE,
        why="it stands in words of somebody else" if passage.kind == "quote" else _WHY_NOT.get(kind, ""),
    )


def _around(text: str, start: int, end: int) -> str:
    """The words around a claim, cut to a length."""
    room = max(0, LONGEST_TEXT - (end - start)) // 2
    first, last = max(0, start - room), min(len(text), end + room)
    return ("..." if first else "") + text[first:last].strip() + ("..." if last < len(text) else "")


def _judgements(document: Document, names: Names, settled: set[int]) -> Iterator[Judgment]:
    """What every check says of the lines that are not settled."""
    world, rollouts = World(names, KnownNumbers(names.analysis)), Rollouts(names)
    heading = Passage(kind="heading", text="", spots=())
    for passage in document.passages:
        heading = passage if passage.kind == "heading" else heading
        if passage.kind != "quote" and not _settled(passage, settled):
            yield from _of_passage(passage, heading, world, rollouts)
    for table in document.tables:
        if not all(_settled(row[0], settled) for row in table.rows if row[0].spots):
            yield from _of_table(table, world, rollouts)


def _of_passage(passage: Passage, heading: Passage, world: World, rollouts: Rollouts) -> Iterator[Judgment]:
    for bound, verdict in judge_all(list(bound_numbers(passage, world.names)), world.facts):
        yield verdict
        named = list(_with_its_task(verdict, bound.scope, passage, world.names))
        yield from named or _with_its_task(verdict, bound.scope, heading, world.names)
    yield from shares(passage, world.names)
    yield from judged_words(passage, world)
    yield from judged_locations(passage, world.names, rollouts)


def _of_table(table: ReportTable, world: World, rollouts: Rollouts) -> Iterator[Judgment]:
    labels = {cell.spots[0]: row[0] for row in table.rows for cell in row if cell.spots}
    for bound, verdict in judge_all(list(bound_cells(table, world.names)), world.facts):
        yield verdict
        yield from _with_its_task(verdict, bound.scope, labels[bound.passage.spots[0]], world.names)
    yield from totals(table, world.names)
    yield from percentages(table, world.names)
    yield from judged_shares(table, table_runs(table, world.names), world.names, world.facts)
    yield from judged_lists(table, world)
    yield from judged_outcomes(table, world.names, rollouts)
    for cell in (cell for row in table.rows for cell in row):
        yield from shares(cell, world.names)
        yield from judged_locations(cell, world.names, rollouts)


def _with_its_task(verdict: Judgment, scope: str, passage: Passage, names: Names) -> Iterator[Judgment]:
    """A task of which a number holds is itself the right one."""
    kind, _, name = scope.partition(":")
    if kind != "task" or verdict.verdict is not ClaimVerdict.TRUE:
        return
    places = names.locations_in(passage.text)
    for task in names.tasks_in(passage.text):
        if task.name == name and not any(place.start <= task.start < place.end for place in places):
            yield replace(verdict, passage=passage, start=task.start, end=task.end, kind="id")


def _settled(passage: Passage, settled: set[int]) -> bool:
    return bool(passage.spots) and all(line in settled for line in {spot[0] for spot in passage.spots})


def _take(claims: dict[Spot, Claim], judged: Judgment, settled: set[int]) -> None:
    """A false verdict stands before a true one, and that before none."""
    if not judged.passage.spots or judged.passage.spots[judged.start][0] in settled:
        return
    claim = _claim(judged.passage, judged.start, judged.end, judged.kind)
    claim = replace(claim, verdict=judged.verdict, found=judged.found, source=judged.source, why=judged.why)
    earlier = claims.get(_spot(claim))
    if earlier is None or _RANK[judged.verdict] < _RANK.get(earlier.verdict, 0) or _first_reason(earlier, judged):
        claims[_spot(claim)] = claim


def _first_reason(earlier: Claim, judged: Judgment) -> bool:
    """A particular reason stands in place of the general one."""
    return (
        earlier.verdict is judged.verdict is ClaimVerdict.NOT_CHECKABLE
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
    if claim.verdict is ClaimVerdict.REDACTED:
        return claim
    if claim.kind == "quote" and "[redacted: " in claim.token:
        return replace(claim, why="a part of it is redacted")
    touching = next((one for one in wrong if _touches(claim, one)), None)
    if touching is None:
        return replace(claim, verdict=ClaimVerdict.TRUE, found=claim.token, source=source, why="")
    right = touching.right or "nothing of the kind"
    return replace(claim, verdict=ClaimVerdict.FALSE, found=right, source=source, why="the data gives another")


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
            verdict=ClaimVerdict.FALSE if change.telling else ClaimVerdict.NOT_CHECKABLE,
            found=change.right or "nothing of the kind",
            source=source,
            why="the data gives another" if change.telling else "the sentence was written anew",
        )
