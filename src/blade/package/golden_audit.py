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
    for taught in (True, False) if named is not None or data.book is None else (False, True):
        if not taught and data.book is None:
            continue
        whole = _called(data.analysis, named, data) if taught else data.untaught
        if run is None:
            yield whole, (report(whole),)
            continue
        mine, own = narrowed(whole, run), (golden_text(whole, run),)
        others = any(one.name != run for one in Names(whole).runs_in(text))
        yield from ((whole, own), (mine, own)) if others else ((mine, own),)
        if len(whole.runs) > 1:
            loaded = next(one.run for one in whole.runs if one.run.name == run)
            alone = analyze([loaded], Options(book=data.book if taught else None))
            yield alone, (report(alone),)


def _called(whole: Analysis, named: str | None, data: Data) -> Analysis:
    """The analysis under the name that a report has for the same package: a path depends on where one stands."""
    if named is None or data.book is None or not named.endswith(f"({data.book.digest})"):
        return whole
    runs = tuple(replace(one, run=replace(one.run, taught_by=named)) for one in whole.runs)
    return replace(whole, runs=runs)
