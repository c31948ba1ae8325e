"""A golden report, or its facts, held against the rollouts of the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from blade.analysis import analyze
from blade.claims.audit import audit_report
from blade.claims.names import Names
from blade.claims.own_report import options_stated
from blade.claims.values import Audit
from blade.custom_rules import RuleBook
from blade.model.analysis import Analysis
from blade.model.options import Options
from blade.package.about_others import Others, combined
from blade.package.data import Data
from blade.package.golden_text import golden_text, narrowed
from blade.report.sections import report


def audited(name: str, text: str, data: Data, run: str | None) -> Audit:
    """Every claim of a text about a run, or about all of them where `run` is None.

    A report may have been made with the package's rules or without, and of the run alone or beside the others. What
    holds under one of these readings holds; where none does, the reading under which most holds is given.
    """
    best: Audit | None = None
    for found in _audits(name, text, data, run):
        if best is None or len(found.false) < len(best.false):
            best = found
        if not best.false:
            break
    return best if best is not None else audit_report(name, text, Analysis(runs=()))


def _audits(name: str, text: str, data: Data, run: str | None) -> Iterator[Audit]:
    """The text under every reading, the likeliest first."""
    if not data.runs:
        return
    named = options_stated(text).package
    for whole, book in _wholes((data.analysis, None), named, data):
        if run is None:
            yield audit_report(name, text, whole, (report(whole),))
            continue
        mine, own = narrowed(whole, run), (golden_text(whole, run),)
        of_run = audit_report(name, text, mine, own)
        others = Others(text, Names(whole), run)
        yield combined(audit_report(name, text, whole, own), of_run, others) if others.named else of_run
        if len(whole.runs) > 1:
            alone = analyze([mine.runs[0].run], Options(find_rule_book=False, rule_book=book))
            yield audit_report(name, text, alone, (report(alone),))


def _wholes(
    plain: tuple[Analysis, RuleBook | None], named: str | None, data: Data
) -> Iterator[tuple[Analysis, RuleBook | None]]:
    """The analyses without and with the package's labels, that which a report names first."""
    if named is None:
        yield plain
    if data.book is not None:
        yield _called(data.with_rule_book, named, data), data.book
    if named is not None:
        yield plain


def _called(whole: Analysis, named: str | None, data: Data) -> Analysis:
    """The analysis under the name that a report has for the same package: a path depends on where one stands."""
    if named is None or data.book is None or not named.endswith(f"({data.book.digest})"):
        return whole
    runs = tuple(replace(one, run=replace(one.run, rule_book_name=named)) for one in whole.runs)
    return structs.replace(whole, runs=runs)
