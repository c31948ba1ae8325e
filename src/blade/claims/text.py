"""An audit as plain text and as JSON values."""

from __future__ import annotations

from typing import Any

from blade.claims.values import CHECKED, Audit, Claim, Verdict
from blade.model.analysis import SCHEMA_VERSION
from blade.report.numbers import plural, share
from blade.report.text import cut, printable

MOST_OPEN = 12
LONGEST = 110
KINDS = ("number", "quote", "id", "comparison", "wording")


def audit_text(audit: Audit) -> list[str]:
    """What does not hold first, then what could not be checked, then the share that could."""
    lines = [line for claim in audit.false for line in _false(claim)]
    lines += [""] if lines else []
    return [printable(line) for line in (*lines, *_open(audit), *summary(audit))]


def _false(claim: Claim) -> list[str]:
    right = f"{claim.found} ({claim.source})" if claim.source else claim.found
    why = f"; {claim.why}" if claim.why else ""
    return [
        f"false, line {claim.line}: {cut(claim.token, LONGEST)}: found {cut(right, 2 * LONGEST)}{why}",
        f"    {cut(claim.text, 2 * LONGEST)}",
    ]


def _open(audit: Audit) -> list[str]:
    left = [claim for claim in audit.claims if claim.verdict is Verdict.NOT_CHECKABLE]
    shown = [f"not checkable, line {one.line}: {cut(one.token, 60)}: {one.why}" for one in left[:MOST_OPEN]]
    more = len(left) - MOST_OPEN
    return [
        *shown,
        *([f"{more:,} more that cannot be checked: --json lists them"] if more > 0 else []),
        *([""] if left else []),
    ]


def summary(audit: Audit) -> list[str]:
    """How many claims there are, how many hold, and the share that could be checked."""
    held = f"{audit.count(Verdict.TRUE):,} true, {audit.count(Verdict.FALSE):,} false"
    rest = f"{audit.count(Verdict.NOT_CHECKABLE):,} not checkable, {audit.count(Verdict.REDACTED):,} redacted"
    against = f"against {', '.join(audit.runs)}" if audit.runs else "against itself: no run was given"
    kind = ", a report that BLADE wrote" if audit.written_by_blade else ""
    checked = audit.count(*CHECKED)
    return [
        f"{audit.report}{kind}, {against}: {plural(len(audit.claims), 'claim')}: {held}, {rest}.",
        f"Checkable: {_share(audit.share())} of claims ({checked:,}); {_share(audit.share('number'))} of numbers ({audit.count(*CHECKED, kind='number'):,}).",
    ]


def _share(value: float | None) -> str:
    return share(value) if value is not None else "none"


def audit_json(audit: Audit) -> dict[str, Any]:
    """The audit as JSON values, false claims first."""
    order = {verdict: rank for rank, verdict in enumerate(Verdict)}
    ordered = sorted(audit.claims, key=lambda one: (order[one.verdict], one.line, one.column))
    return {
        "schema_version": SCHEMA_VERSION,
        "report": audit.report,
        "runs": list(audit.runs),
        "written_by_blade": audit.written_by_blade,
        "counts": {str(verdict): audit.count(verdict) for verdict in Verdict},
        "checkable": {
            "claims": audit.share(),
            **{f"{kind}s": audit.share(kind) for kind in KINDS if audit.share(kind) is not None},
        },
        "claims": [_claim(one, audit.report) for one in ordered],
    }


def _claim(claim: Claim, report: str) -> dict[str, Any]:
    return {
        "text": claim.text,
        "location": f"{report}:{claim.line}:{claim.column + 1}",
        "verdict": str(claim.verdict),
        "found": claim.found or None,
        "source": claim.source or None,
        "why": claim.why or None,
        "kind": claim.kind,
        "token": claim.token,
    }
