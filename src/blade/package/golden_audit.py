"""A golden report, or its facts, held against the rollouts of the package."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from msgspec import structs

from blade.analysis import analyze
from blade.claims.audit import audit_report
from blade.claims.names import Names
from blade.claims.own_report import options_stated
from blade.claims.values import Audit, Claim, ClaimVerdict
from blade.custom_rules import RuleBook
from blade.model.analysis import Analysis
from blade.model.options import Options
from blade.package.checks_metrics import sidecar_model
from blade.package.documents import OF_REPORT, read_text, sections
from blade.package.layout import find_package
from blade.package.rollouts import PackageRollouts
from blade.report.sections import cross_model_comparison, report

GOLDEN_REPORTS = "golden_reports"
_COMPARISON_HEADING = "## 9. Cross-Model Comparison\n"
_AFTER = "## 10. "
_COMPARISON = next(section for section in OF_REPORT if section.title == "Cross-model comparison")


def audit_in_place(report_path: Path) -> Audit | None:
    """The claims of a golden report against its package's rollouts, as validation audits it.

    None when the file is no golden report, or there are no rollouts.
    """
    if report_path.parent.name != GOLDEN_REPORTS:
        return None
    package = find_package(report_path.parent.parent)
    golden = next((golden for golden in package.goldens if golden.report.name == report_path.name), None)
    if golden is None or not package.rollouts:
        return None
    data = PackageRollouts(package)
    run = None if golden.comparison else data.subject(golden, sidecar_model(golden.metrics))
    return audit_against(report_path.name, read_text(report_path), data, run)


def audit_against(name: str, text: str, data: PackageRollouts, run: str | None) -> Audit:
    """Every claim of a text about a run, or about all of them where `run` is None.

    A report may have been made with the package's rules or without, and of the run alone or beside the others. What
    holds under one of these readings holds; where none does, the reading under which most holds is given.
    """
    best: Audit | None = None
    for audit in _audits(name, text, data, run):
        if best is None or len(audit.false) < len(best.false):
            best = audit
        if not best.false:
            break
    return best if best is not None else audit_report(name, text, Analysis(runs=()))


def _audits(name: str, text: str, data: PackageRollouts, run: str | None) -> Iterator[Audit]:
    """The text under every reading, the likeliest first."""
    if not data.runs:
        return
    for whole, book in _analyses(options_stated(text).package, data):
        if run is None:
            yield audit_report(name, text, whole, (report(whole),))
            continue
        narrow, own = narrowed(whole, run), (golden_text(whole, run),)
        of_run = audit_report(name, text, narrow, own)
        others = _OtherRuns(text, Names(whole), run)
        yield _combined(audit_report(name, text, whole, own), of_run, others) if others.named else of_run
        if len(whole.runs) > 1:
            alone = analyze([narrow.runs[0].run], Options(find_rule_book=False, rule_book=book))
            yield audit_report(name, text, alone, (report(alone),))


def _analyses(named: str | None, data: PackageRollouts) -> Iterator[tuple[Analysis, RuleBook | None]]:
    """The analyses without and with the package's labels; that with them first where the report names a rule book."""
    if named is None:
        yield data.analysis, None
    if data.rule_book is not None:
        whole = data.with_rule_book
        if named is not None and named.endswith(f"({data.rule_book.digest})"):
            # The name that the report has for the same book: a path depends on where one stands.
            runs = (structs.replace(one, run=structs.replace(one.run, rule_book_name=named)) for one in whole.runs)
            whole = structs.replace(whole, runs=tuple(runs))
        yield whole, data.rule_book
    if named is not None:
        yield data.analysis, None


def narrowed(analysis: Analysis, run: str) -> Analysis:
    """One run of an analysis, as all of them showed it."""
    runs = tuple(one for one in analysis.runs if one.run.name == run)
    return structs.replace(analysis, runs=runs, shared={}, between=())


def golden_text(analysis: Analysis, run: str) -> str:
    """The report that BLADE writes of one run; the section that compares models is about all of them."""
    alone = report(narrowed(analysis, run))
    if len(analysis.runs) < 2:
        return alone
    before, heading, rest = alone.partition(_COMPARISON_HEADING)
    _, after, end = rest.partition(_AFTER)
    compared = "\n".join(cross_model_comparison(analysis)).strip()
    return f"{before}{heading}\n{compared}\n\n{after}{end}"


class _OtherRuns:
    """Lines that name another run than the report's own, in their paragraph, their table or a heading above."""

    def __init__(self, text: str, names: Names, run: str) -> None:
        self.text, self.names, self.run = text, names, run

    @property
    def named(self) -> bool:
        """Whether the report names another run at all."""
        return self._named_in(self.text)

    @cached_property
    def lines(self) -> frozenset[int]:
        """Lines from 1 that may be about another run."""
        about: set[int] = set()
        for section in sections(self.text):
            if section.level > 1 and (self._named_in(section.title) or _COMPARISON.means.search(section.title)):
                about.update(range(section.line, section.line + len(section.body) + 1))
        # Blocks of lines without a blank one between them.
        lines, start = [*self.text.split("\n"), ""], 0
        for number, line in enumerate(lines):
            if not line.strip():
                if self._named_in("\n".join(lines[start:number])):
                    about.update(range(start + 1, number + 1))
                start = number + 1
        return frozenset(about)

    def _named_in(self, text: str) -> bool:
        return any(named.name != self.run for named in self.names.runs_in(text))


def _combined(whole: Audit, of_run: Audit, others: _OtherRuns) -> Audit:
    """An audit against all runs, in which what is said of no run by name is held to the report's own."""
    own = {_spot(claim): claim for claim in of_run.claims}
    claims = []
    for claim in whole.claims:
        alone = own.get(_spot(claim))
        settled = claim.verdict is not ClaimVerdict.NOT_CHECKABLE or claim.line in others.lines
        claims.append(claim if alone is None or settled else alone)
    known = {_spot(claim) for claim in whole.claims}
    claims += [claim for spot, claim in own.items() if spot not in known and claim.line not in others.lines]
    return structs.replace(whole, claims=tuple(sorted(claims, key=_spot)))


def _spot(claim: Claim) -> tuple[int, int, str]:
    return claim.line, claim.column, claim.kind
