"""One thing that was looked at, and whether it holds."""

from __future__ import annotations

from msgspec import Struct


class Check(Struct, frozen=True, kw_only=True):
    """A check with its outcome in words: `message` names it, `found` says what was seen, `fix` what to do."""

    code: str
    """Short and lasting, such as `D1.skill`; a checklist points at it."""
    passed: bool | None
    """None where it cannot be known; `found` then says why."""
    message: str
    found: str = ""
    fix: str = ""
