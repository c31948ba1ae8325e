"""Symptoms, and the evidence that each of them points at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from blade.core.rollout import Rollout, RolloutKey

LONGEST_QUOTE = 300


class Cause(StrEnum):
    """Why a task fails; a finding suggests one and does not decide it."""

    KNOWLEDGE = "knowledge"
    UNRELIABLE = "unreliable"
    BEHAVIOR = "behavior"
    TASK = "task"
    INFRA = "infra"
    DATA = "data"

    @property
    def code(self) -> str:
        return _CODES[self]


_CODES = {
    Cause.KNOWLEDGE: "KG",
    Cause.UNRELIABLE: "UK",
    Cause.BEHAVIOR: "BI",
    Cause.TASK: "TI",
    Cause.INFRA: "IR",
    Cause.DATA: "DA",
}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A verbatim quote and where it stands: a field of a step, or a dotted path of the row when `step` is None."""

    key: RolloutKey
    step: int | None
    field: str
    quote: str


class Hit(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A place where a rule fired, light enough for the run table: the quote is found again by re-reading."""

    code: str
    step: int | None
    field: str
    start: int
    length: int


class Looked(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What all rollout rules said about one rollout: fired at, could not look; the rest were quiet."""

    hits: tuple[Hit, ...] = ()
    cannot_look: tuple[str, ...] = ()


NOTHING_SEEN = Looked()

Look = Callable[[Rollout, bytes], Looked]
"""Handed to the scan by a pipeline; the bytes are the raw trajectory, for gates that search text. Must be picklable."""
