"""What the fields of a run mean: each field path has at most one role, decided once per run and before the scan."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Role = Literal[
    "task",
    "repeat",
    "reward",
    "model",
    "agent",
    "prompt",
    "trajectory",
    "tools",
    "status",
    "error",
    "stop",
    "checks",
    "grader-log",
    "agent-log",
    "time",
    "duration",
    "usage",
    "cost",
    "expected",
    "produced",
    "expected-actions",
    "statements",
    "script",
    "score-part",
    "task-field",
]
"""`task-field`: equal in all repeats of a task and different between tasks, without a role of its own: it may be a slice."""

DecidedBy = Literal["format", "content", "name", "user"]


class FieldRole(Struct, frozen=True, kw_only=True):
    """What one field path was taken for, and why."""

    path: str
    """Dotted; `[]` stands for the items of a list."""
    role: Role | None
    """None: not used."""
    why: str
    decided_by: DecidedBy = "content"
    """`format`: a documented format defines the name; `name`: content left a tie that the name broke."""
    example: str = ""
    rows: int = 0
    of: int = 0


class Roles(Struct, frozen=True, kw_only=True):
    """The fields of a run, in order of their path."""

    fields: tuple[FieldRole, ...] = ()
    undecided: tuple[str, ...] = ()
    """Sentences about roles that the content could not decide, each with the `--map` that would."""

    def paths(self, role: Role) -> tuple[str, ...]:
        """The field paths with a role."""
        return tuple(field.path for field in self.fields if field.role == role)
