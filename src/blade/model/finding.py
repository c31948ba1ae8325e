"""Symptoms, and the evidence that each of them points at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from blade.model.rollout import Rollout, RolloutKey

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


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A verbatim quote and where it stands: a field of a step, or a dotted path of the row when `step` is None."""

    key: RolloutKey
    step: int | None
    field: str
    quote: str
    file: str | None = None
    """Where the row of the rollout stands; filled in when a diagnosis is complete."""
    line: int | None = None

    @property
    def task_id(self) -> str:
        return self.key.task_id

    @property
    def repeat(self) -> int:
        return self.key.repeat

    @property
    def location(self) -> str:
        """`TASK#REPEAT:STEP`; without a step where the quote is of the row."""
        return f"{self.key}" + (f":{self.step}" if self.step is not None else "")


class Hit(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A location where a rule fired, light enough for the run table: the quote is found again by re-reading."""

    code: str
    step: int | None
    field: str
    start: int
    length: int


class Differs(StrEnum):
    """The ways in which a rollout can differ from what was due, and what can stand in the way of a verdict."""

    ERROR = "error"
    """Machinery: provider, harness, sandbox or tool backend; `name` is the field that says so."""
    NO_RECORD = "no record"
    """The verifier left no account of the rollout, or says that it failed itself; `name` is the field."""
    CUT = "cut"
    """A limit ended the rollout; `name` is tokens, steps or time."""
    NO_ANSWER = "no answer"
    """Nothing to judge; `name` is output, answer or patch."""
    NOT_MADE = "not made"
    """No change at all where some were due; `name` is the tool of one that was due."""
    UNWANTED = "unwanted"
    """A change where the key wants none; `name` is the tool."""
    MISSING = "missing"
    """A change that was due and not made, beside others that were; `name` is the tool."""
    EXTRA = "extra"
    """A change that was not due, beside others that were; `name` is the tool."""
    ARGUMENT = "argument"
    """The right tool with another argument; `name` is the tool, `detail` the argument."""
    LOOKUP = "lookup"
    """A call of the key that changes nothing, and was not made; `name` is the tool."""
    REFUSED = "refused"
    """A call that the schema of its own tool does not take; `name` is the tool, `detail` the argument."""
    NOT_SAID = "not said"
    """A statement that was due and not made; `name` is the statement."""
    CHECK = "check"
    """A test or criterion that did not hold; `name` is its name, `detail` the template of the verifier's words."""
    ANSWER = "answer"
    """The answer against the key; `name` says how they compare."""
    SAID = "said"
    """The verifier's own words; `name` is the field, `detail` their template."""


class Difference(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One way in which a rollout differs from what was due; light enough for the run table."""

    kind: str
    name: str = ""
    detail: str = ""
    step: int | None = None


class Sign(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One fact about a rollout that an attribution may rest on; light enough for the run table, and no verdict by itself."""

    kind: str
    """What was seen: `status`, `log:exception`, `ends:question`; the file that makes it says what it means."""
    subject: str = ""
    """What it is about: the value of a status, a test, a path, two literals that differ; at most 120 characters."""
    quote: str = ""
    """Words that stand in the field word for word, at most 200 characters; empty where absence is the evidence."""
    field: str = ""
    """Dotted path in the row or, with a step, `text`, `arguments` or `tool`; empty for what is absent."""
    step: int | None = None


class Detection(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What all rollout rules saw in one rollout: fired at, could not look; the rest were quiet."""

    hits: tuple[Hit, ...] = ()
    cannot_check: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    attempted: bool | None = None
    feedback: bool | None = None
    reached: tuple[str, ...] = ()
    """Stages of a package's funnel."""
    signs: tuple[Sign, ...] = ()


NOTHING_DETECTED = Detection()

Detect = Callable[[Sequence[Rollout]], list[Detection]]
"""What is seen in each of some rollouts. Handed to the scan by a pipeline. Must be picklable."""
