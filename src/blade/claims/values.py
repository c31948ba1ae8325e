"""What `blade audit` says of a report: each claim with its verdict, the right value and its source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What became of a claim."""

    FALSE = "false"
    TRUE = "true"
    NOT_CHECKABLE = "not checkable"
    REDACTED = "redacted"


CHECKED = (Verdict.TRUE, Verdict.FALSE)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A number, a quotation, an id or a comparison that a report states."""

    kind: str
    """number, quote, id, comparison, wording or redaction."""
    token: str
    """The words that were checked, as the report writes them."""
    text: str
    """The part of the sentence or table in which they stand."""
    line: int
    """Of the report, from 1."""
    column: int
    """Of the first character in that line, from 0."""
    verdict: Verdict
    found: str = ""
    """The right value; for a true claim, what was found."""
    source: str = ""
    """Where the value comes from."""
    why: str = ""
    """Why the claim is false, or cannot be checked."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Every claim of a report in the order of the report, and what it was held against."""

    report: str
    runs: tuple[str, ...]
    """Names of the runs whose data was at hand."""
    claims: tuple[Claim, ...]
    written_by_blade: bool
    """The report is one that BLADE writes for these runs, so that its sentences are known word for word."""

    def __repr__(self) -> str:
        unknown = self.count(Verdict.NOT_CHECKABLE)
        return f"Audit({self.report!r}: {len(self.claims)} claims, {len(self.false)} false, {unknown} not checkable)"

    @property
    def false(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if claim.verdict is Verdict.FALSE)

    def count(self, *verdicts: Verdict, kind: str | None = None) -> int:
        """How many claims have one of the verdicts; with `kind`, of that kind."""
        return sum(claim.verdict in verdicts and kind in (None, claim.kind) for claim in self.claims)

    def share(self, kind: str | None = None) -> float | None:
        """The share of claims that could be checked, of those that are not redacted; None when there are none."""
        all_ = self.count(*CHECKED, Verdict.NOT_CHECKABLE, kind=kind)
        return self.count(*CHECKED, kind=kind) / all_ if all_ else None
