"""The shallow baseline of a golden report: is it a report without the diagnosis?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from blade.claims.names import Names
from blade.model.check import Check
from blade.package.data import Data
from blade.package.documents import read_text, shown
from blade.package.layout import Golden, Package

FEWEST_WORDS = 10
FEW = 2
"""So many traces of a diagnosis are none."""
SHARE = 0.2
"""What it may keep of the golden report's evidence and reasons."""
MOST_KEPT = 0.5
"""What it may keep of the golden report's sentences."""
_QUOTE = re.compile(r"\"[^\"\n]{12,}\"|\u201c[^\u201d\n]{12,}\u201d")
_REASON = re.compile(
    r"\b(?:because|since|therefore|thus|hence|due to|caused?|leads? to|led to|so that|instead of|fails? to|root cause"
    r"|which means|as a result|should|recommend\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Depth:
    """Traces of reading: rollouts and tasks named in sentences, quotations, reasons."""

    words: int
    evidence: int
    reasons: int
    sentences: frozenset[str]


def shallow_check(golden: Golden, package: Package, data: Data, report: str) -> Check:
    """Whether the baseline is there, says something, and lacks what makes the golden report useful."""
    message = "D3 shallow baseline"
    fix = (
        f"make it from the golden report: `blade package make-shallow --input {golden.report.as_posix()} "
        f"--output {golden.report.with_name(golden.model + '_shallow.md').as_posix()}`"
    )
    if golden.shallow is None:
        found = f"missing; looked for golden_reports/{golden.model}_shallow.md"
        return Check(code="D3.shallow", passed=False, message=message, found=found, fix=fix)
    text, names = read_text(golden.shallow), Names(data.analysis)
    mine, whole = _depth(text, names), _depth(report, names)
    fault = _fault(text, report, mine, whole)
    said = f"{mine.evidence} places and quotations (golden {whole.evidence}), {mine.reasons} reasons (golden {whole.reasons})"
    return Check(
        code="D3.shallow",
        passed=not fault,
        message=message,
        found=f"{shown(golden.shallow, package.folder)}: " + (f"{fault}; {said}" if fault else said),
        fix=fix,
    )


def _depth(text: str, names: Names) -> Depth:
    prose = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith(("|", "#"))]
    body = "\n".join(prose)
    places = sum(not one.short for one in names.locations_in(text))
    return Depth(
        words=len(re.findall(r"\w{2,}", text)),
        evidence=places + len(names.tasks_in(body)) + len(_QUOTE.findall(text)),
        reasons=len(_REASON.findall(body)),
        sentences=frozenset(" ".join(line.split()) for line in prose if len(line.split()) > 3),
    )


def _fault(text: str, report: str, mine: Depth, whole: Depth) -> str:
    if mine.words < FEWEST_WORDS:
        return f"it holds {mine.words} words: an empty file is no control"
    if " ".join(text.split()) == " ".join(report.split()):
        return "it is the golden report itself"
    if mine.evidence > max(FEW, SHARE * whole.evidence):
        return "it cites evidence"
    if mine.reasons > max(FEW, SHARE * whole.reasons):
        return "it gives reasons"
    kept = len(mine.sentences & whole.sentences)
    return "it keeps most sentences of the golden report" if kept > max(FEW, MOST_KEPT * len(whole.sentences)) else ""
