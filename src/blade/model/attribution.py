"""What went wrong in one rollout, whose it is, how sure that is, and on what evidence: the table that everything else reads."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from blade.model.finding import Evidence

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
    """What decided: `rule:CODE`, `package:NAME`, `person:NAME`, `model:NAME`."""
    also: tuple[str, ...] = ()
    """Other modes and symptoms that apply, in order."""
