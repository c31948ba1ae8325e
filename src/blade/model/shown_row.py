"""What a row holds about its rollout beside the trajectory, sorted by what it looks like: for people and agents who read."""

from __future__ import annotations

from msgspec import Struct

from blade.model.expected import VerifierCheck


class ShownText(Struct, frozen=True, kw_only=True):
    """A long text of the row: a log, a patch, an explanation."""

    field: str
    """Dotted path in the row."""
    text: str
    """Without control sequences and overwritten lines."""


class ShownPhase(Struct, frozen=True, kw_only=True):
    """A stretch of time: its ends as the row has them, or its length alone."""

    name: str
    start: str = ""
    end: str = ""
    seconds: float | None = None


class ShownRow(Struct, frozen=True, kw_only=True):
    """Everything outside prompt and trajectory that says anything; each field of the row is in exactly one part."""

    short: tuple[tuple[str, str], ...] = ()
    """Short values with their dotted paths: statuses, exit codes, names, counts."""
    usage: tuple[tuple[str, str], ...] = ()
    phases: tuple[ShownPhase, ...] = ()
    checks: tuple[VerifierCheck, ...] = ()
    """Failed ones first."""
    texts: tuple[ShownText, ...] = ()
    """The grader's first."""
    others: tuple[str, ...] = ()
    """Fields of which nothing is shown."""


NOTHING_SHOWN = ShownRow()
