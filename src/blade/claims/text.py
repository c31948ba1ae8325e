"""An audit as plain text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from blade.claims.values import CHECKED, Audit, ClaimVerdict
from blade.model.analysis import SCHEMA_VERSION
from blade.report.numbers import plural, share
from blade.report.text import cut, printable

MOST_OPEN = 12
LONGEST = 110
KINDS = ("number", "quote", "id", "comparison", "wording")


def audit_text(audit: Audit) -> list[str]:
    """What does not hold first, then what could not be checked, then the share that could."""
    lines: list[str] = []
    for claim in audit.false:
        right = f"{claim.found} ({claim.source})" if claim.source else claim.found
        why = f"; {claim.why}" if claim.why else ""
        lines.append(f"false, line {claim.line}: {cut(claim.token, LONGEST)}: found {cut(right, 2 * LONGEST)}{why}")
        lines.append(f"    {cut(claim.text, 2 * LONGEST)}")
    lines += [""] if lines else []
    left = [claim for claim in audit.claims if claim.verdict is ClaimVerdict.NOT_CHECKABLE]
    lines += [f"not checkable, line {one.line}: {cut(one.token, 60)}: {one.why}" for one in left[:MOST_OPEN]]
    if len(left) > MOST_OPEN:
        lines.append(f"{len(left) - MOST_OPEN:,} more that cannot be checked: --json lists them")
    lines += [""] if left else []
    return [printable(line) for line in (*lines, *summary(audit))]


def summary(audit: Audit) -> list[str]:
    """How many claims there are, how many hold, and the share that could be checked."""
    held = f"{audit.count(ClaimVerdict.TRUE):,} true, {audit.count(ClaimVerdict.FALSE):,} false"
    rest = f"{audit.count(ClaimVerdict.NOT_CHECKABLE):,} not checkable, {audit.count(ClaimVerdict.REDACTED):,} redacted"
    against = f"against {', '.join(audit.runs)}" if audit.runs else "against itself: no run was given"
    kind = ", a report that BLADE wrote" if audit.written_by_blade else ""
    checked = audit.count(*CHECKED)
    return [
        f"{audit.report}{kind}, {against}: {plural(len(audit.claims), 'claim')}: {held}, {rest}.",
        f"Checkable: {_share(audit.share())} of claims ({checked:,}); {_share(audit.share('number'))} of numbers ({audit.count(*CHECKED, kind='number'):,}).",
    ]


def _share(value: float | None) -> str:
    return share(value) if value is not None else "none"


class ClaimDocument(Struct, frozen=True, kw_only=True):
    """A claim with what the data says of it."""

    text: str
    location: str
    """`REPORT:LINE:COLUMN`, both from 1."""
    verdict: ClaimVerdict
    found: str | None
    source: str | None
    why: str | None
    kind: str
    token: str


class AuditDocument(Struct, frozen=True, kw_only=True):
    """What `blade audit --json` prints."""

    schema_version: str
    report: str
    runs: tuple[str, ...]
    written_by_blade: bool
    counts: Mapping[str, int]
    """Claims by verdict."""
    checkable: Mapping[str, float | None]
    """The share of claims that could be checked, of all and by kind."""
    claims: tuple[ClaimDocument, ...]
    """False ones first."""


def document(audit: Audit) -> AuditDocument:
    """The audit as it is printed."""
    shares = {f"{kind}s": part for kind in KINDS if (part := audit.share(kind)) is not None}
    order = list(ClaimVerdict)
    ordered = sorted(audit.claims, key=lambda claim: (order.index(claim.verdict), claim.line, claim.column))
    return AuditDocument(
        schema_version=SCHEMA_VERSION,
        report=audit.report,
        runs=audit.runs,
        written_by_blade=audit.written_by_blade,
        counts={str(verdict): audit.count(verdict) for verdict in order},
        checkable={"claims": audit.share(), **shares},
        claims=tuple(
            ClaimDocument(
                text=claim.text,
                location=f"{audit.report}:{claim.line}:{claim.column + 1}",
                verdict=claim.verdict,
                found=claim.found or None,
                source=claim.source or None,
                why=claim.why or None,
                kind=claim.kind,
                token=claim.token,
            )
            for claim in ordered
        ),
    )
