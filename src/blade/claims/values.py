"""What `blade audit` says of a report: each claim with its verdict, the right value and its source."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from blade.claims.markdown import Passage


class ClaimVerdict(StrEnum):
    """What became of a claim."""

    FALSE = "false"
    TRUE = "true"
    NOT_CHECKABLE = "not checkable"
    REDACTED = "redacted"


CHECKED = (ClaimVerdict.TRUE, ClaimVerdict.FALSE)


class Claim(Struct, frozen=True, kw_only=True):
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
    verdict: ClaimVerdict
    found: str = ""
    """The right value; for a true claim, what was found."""
    source: str = ""
    """Where the value comes from."""
    why: str = ""
    """Why the claim is false, or cannot be checked."""


class Audit(Struct, frozen=True, kw_only=True):
    """Every claim of a report in the order of the report, and what it was held against."""

    report: str
    runs: tuple[str, ...]
    """Names of the runs whose data was at hand."""
    claims: tuple[Claim, ...]
    written_by_blade: bool
    """The report is one that BLADE writes for these runs, so that its sentences are known word for word."""

    def __repr__(self) -> str:
        unknown = self.count(ClaimVerdict.NOT_CHECKABLE)
        return f"Audit({self.report!r}: {len(self.claims)} claims, {len(self.false)} false, {unknown} not checkable)"

    @property
    def false(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if claim.verdict is ClaimVerdict.FALSE)

    def count(self, *verdicts: ClaimVerdict, kind: str | None = None) -> int:
        """How many claims have one of the verdicts; with `kind`, of that kind."""
        return sum(claim.verdict in verdicts and kind in (None, claim.kind) for claim in self.claims)

    def share(self, kind: str | None = None) -> float | None:
        """The share of claims that could be checked, of those that are not redacted; None when there are none."""
        all_ = self.count(*CHECKED, ClaimVerdict.NOT_CHECKABLE, kind=kind)
        return self.count(*CHECKED, kind=kind) / all_ if all_ else None


class Judgment(Struct, frozen=True, kw_only=True):
    """A verdict on a range of a passage."""

    passage: Passage
    start: int
    end: int
    verdict: ClaimVerdict
    kind: str = "number"
    found: str = ""
    source: str = ""
    why: str = ""


def holds(passage: Passage, span: tuple[int, int], *, kind: str = "number", found: str, source: str) -> Judgment:
    """The claim is true, and `source` says so."""
    return _judgment(passage, span, ClaimVerdict.TRUE, kind=kind, found=found, source=source)


def fails(
    passage: Passage, span: tuple[int, int], *, kind: str = "number", found: str, source: str, why: str = ""
) -> Judgment:
    """The claim is false; `found` is what it should be."""
    return _judgment(passage, span, ClaimVerdict.FALSE, kind=kind, found=found, source=source, why=why)


def not_checkable(passage: Passage, span: tuple[int, int], *, kind: str = "number", why: str) -> Judgment:
    """The claim cannot be checked."""
    return _judgment(passage, span, ClaimVerdict.NOT_CHECKABLE, kind=kind, why=why)


def _judgment(passage: Passage, span: tuple[int, int], verdict: ClaimVerdict, **more: str) -> Judgment:
    return Judgment(passage=passage, start=span[0], end=span[1], verdict=verdict, **more)
