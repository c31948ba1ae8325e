"""The report that BLADE writes of one run of a package, set against the package's other runs."""

from __future__ import annotations

from msgspec.structs import replace

from blade.model.analysis import Analysis
from blade.report.sections import cross_model_comparison, report

_COMPARISON = "## 9. Cross-Model Comparison\n"
_AFTER = "## 10. "


def narrowed(analysis: Analysis, run: str) -> Analysis:
    """One run of an analysis, as all of them showed it."""
    mine = tuple(one for one in analysis.runs if one.run.name == run)
    return replace(analysis, runs=mine, shared={}, between=())


def golden_text(analysis: Analysis, run: str) -> str:
    """The report on one run; the section that compares models is about all of them."""
    alone = report(narrowed(analysis, run))
    if len(analysis.runs) < 2:
        return alone
    before, mark, rest = alone.partition(_COMPARISON)
    _, after, end = rest.partition(_AFTER)
    compared = "\n".join(cross_model_comparison(analysis)).strip()
    return f"{before}{mark}\n{compared}\n\n{after}{end}"
