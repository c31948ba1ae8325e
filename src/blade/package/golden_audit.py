"""A golden report, or its facts, held against the rollouts of the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blade.auditing.asked import asked
from blade.auditing.audit import audit as audit_report
from blade.auditing.names import Names
from blade.core.analysis import Analysis
from blade.core.audit import Audit
from blade.package.data import Data
from blade.package.golden_text import golden_text, narrowed
from blade.pipeline import Options, analyze
from blade.report.sections import report
from blade.teach import Book


def audited(name: str, text: str, data: Data, run: str | None) -> Audit:
    """Every claim of a text about a run, or about all of them where `run` is None.

    A report may have been made with the package's rules or without, and of the run alone or beside the others. What
    holds under one of these readings holds; where none does, the reading under which most holds is given.
    """
    best: Audit | None = None
    for analysis, own in _readings(text, data, run):
        found = audit_report(name, text, analysis, own)
        if best is None or len(found.false) < len(best.false):
            best = found
        if not best.false:
            break
    return best if best is not None else audit_report(name, text, Analysis(runs=()))


def _readings(text: str, data: Data, run: str | None) -> Iterator[tuple[Analysis, tuple[str, ...]]]:
    """Analyses that a text may rest on, the likeliest first, each with what BLADE writes of it."""
    if not data.runs:
        return
    named = asked(text).package
    plain: tuple[Analysis, Book | None] = data.analysis, None
    for whole, book in _wholes(plain, named, data):
        if run is None:
            yield whole, (report(whole),)
            continue
        mine, own = narrowed(whole, run), (golden_text(whole, run),)
        others = any(one.name != run for one in Names(whole).runs_in(text))
        yield from ((whole, own), (mine, own)) if others else ((mine, own),)
        if len(whole.runs) > 1:
            alone = analyze([mine.runs[0].run], Options(book=book))
            yield alone, (report(alone),)


def _wholes(
    plain: tuple[Analysis, Book | None], named: str | None, data: Data
) -> Iterator[tuple[Analysis, Book | None]]:
    """The analyses without and with the package's labels, that which a report names first."""
    if named is None:
        yield plain
    if data.book is not None:
        yield _called(data.taught, named, data), data.book
    if named is not None:
        yield plain


def _called(whole: Analysis, named: str | None, data: Data) -> Analysis:
    """The analysis under the name that a report has for the same package: a path depends on where one stands."""
    if named is None or data.book is None or not named.endswith(f"({data.book.digest})"):
        return whole
    runs = tuple(replace(one, run=replace(one.run, taught_by=named)) for one in whole.runs)
    return replace(whole, runs=runs)
