"""What a check says of a range of a passage; the audit gathers these into claims."""

from __future__ import annotations

from dataclasses import dataclass

from blade.claims.markdown import Passage
from blade.claims.values import Verdict


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict on a range of a passage."""

    passage: Passage
    start: int
    end: int
    verdict: Verdict
    kind: str = "number"
    found: str = ""
    source: str = ""
    why: str = ""


def holds(passage: Passage, span: tuple[int, int], *, kind: str = "number", found: str, source: str) -> Judged:
    """The claim is true, and `source` says so."""
    start, end = span
    return Judged(passage=passage, start=start, end=end, verdict=Verdict.TRUE, kind=kind, found=found, source=source)


def fails(
    passage: Passage, span: tuple[int, int], *, kind: str = "number", found: str, source: str, why: str = ""
) -> Judged:
    """The claim is false; `found` is what it should be."""
    start, end = span
    return Judged(
        passage=passage, start=start, end=end, verdict=Verdict.FALSE, kind=kind, found=found, source=source, why=why
    )


def open_(passage: Passage, span: tuple[int, int], *, kind: str = "number", why: str) -> Judged:
    """The claim cannot be checked."""
    start, end = span
    return Judged(passage=passage, start=start, end=end, verdict=Verdict.NOT_CHECKABLE, kind=kind, why=why)
