"""What went wrong in one rollout, whose it is, how sure that is, and on what evidence: the table that everything else reads."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from blade.model.finding import Evidence

if TYPE_CHECKING:
    import polars as pl

    from blade.model.reading import ReaderAttribution

UNATTRIBUTED = "unattributed"


class Stage(StrEnum):
    """The furthest stage that a rollout reached, in order."""

    NOT_RUN = "not_run"
    ENVIRONMENT_READY = "environment_ready"
    AGENT_STARTED = "agent_started"
    AGENT_ACTED = "agent_acted"
    AGENT_FINISHED = "agent_finished"
    GRADED = "graded"
    PASSED = "passed"


class Confidence(StrEnum):
    """How sure an attribution is; see docs/attribution.md."""

    PROVEN = "proven"
    LIKELY = "likely"
    SUSPECTED = "suspected"


Responsible = Literal[
    "agent", "user_simulator", "tool", "environment", "harness", "verifier", "task", "limit", "unknown"
]
"""Who has to act."""


class Attribution(Struct, frozen=True, kw_only=True):
    """One row of the table: a rollout, what became of it, and why."""

    task_id: str
    repeat: int
    outcome: str
    stage: Stage
    mode: str | None
    """Code of the catalog; None for a pass."""
    subject: str = ""
    """What the mode is about: the test, the argument, the path, the limit; rollouts with one mode and subject make a finding."""
    party: Responsible = "unknown"
    confidence: Confidence | None = None
    valid: bool = False
    """Validly graded: the agent ended by itself or at a limit, and the grader reached a verdict on what it left."""
    evidence: tuple[Evidence, ...] = ()
    contrast: str = ""
    """What is absent here and present elsewhere, with both counts; or what was looked at in vain."""
    by: str = ""
    """What decided: `rule:CODE`, `package:NAME`, or the name of the reader."""
    note: str = ""
    """The reader's own words."""
    also: tuple[str, ...] = ()
    """Other modes and symptoms that apply, in order."""


class Attributions(Struct, frozen=True, kw_only=True, eq=False):
    """The attributions of a run, and what was compared on the way."""

    table: pl.DataFrame
    """A row a rollout, in the order of the run's table; the columns are those of `ATTRIBUTIONS`."""
    other_runs: tuple[str, ...] = ()
    """Runs whose rollouts of the same tasks supported or contradicted an attribution."""
    by_rules: pl.DataFrame | None = None
    """The same table as rules alone decide it, where readers overrule them."""
    readings: tuple[ReaderAttribution, ...] = ()
    """What overrules the rules, in order: of several on one rollout, the last."""

    @property
    def rules_table(self) -> pl.DataFrame:
        """What the rules say, whoever overrules them."""
        return self.table if self.by_rules is None else self.by_rules


ATTRIBUTIONS: dict[str, tuple[str, str]] = {
    "run": ("String", "name of the run"),
    "task_id": ("String", "the task"),
    "repeat": ("Int32", "the rollout"),
    "outcome": ("String", "passed, failed, errored, unscored, missing"),
    "stage": ("String", "the furthest stage that it reached: not_run to passed"),
    "mode": ("String", "its failure mode, by the code of the catalog; null for a pass"),
    "subject": ("String", "what the mode is about: a test, an argument, a path, a limit"),
    "party": ("String", "who has to act; null for a pass"),
    "confidence": ("String", "proven, likely or suspected; null for a pass and where nothing decides"),
    "valid": ("Boolean", "validly graded"),
    "infra": ("Boolean", "infrastructure: not validly graded, by harness, environment or verifier, proven or likely"),
    "evidence": ("List(Struct)", "quotes with their location: quote, field, step"),
    "contrast": ("String", "what was compared, or what was looked at in vain"),
    "by": ("String", "what decided it: rule:CODE, package:NAME, or the name of the reader"),
    "also": ("List(String)", "other modes and symptoms that apply, in order"),
    "step": ("Int32", "first step at which an expected action differs"),
    "note": ("String", "what the reader said about it, where a reader decided"),
}
