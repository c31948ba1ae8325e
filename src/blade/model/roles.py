"""What the fields of a run mean: each field path has at most one role, decided once per run and before the scan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
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
    "annotation",
]
"""`task-field`: equal in all repeats of a task and different between tasks, without a role of its own: it may be a slice.
`annotation`: what people wrote about the rollout afterwards, which is never evidence."""

ENDINGS: tuple[Role, ...] = ("status", "error", "stop")
"""Roles of fields that name how a rollout ended."""
LOGS: tuple[Role, ...] = ("grader-log", "agent-log")

DecidedBy = Literal["format", "content", "name", "user"]


class FieldRole(Struct, frozen=True, kw_only=True):
    """What one field path was taken for, and why."""

    path: str
    """Dotted; `[]` stands for the items of a list."""
    role: Role | None
    """None: not used."""
    part: str = ""
    """Which of several fields of the role: `input` or `output` of a usage, `total` of a duration, `stop` of a status that names limits."""
    why: str
    decided_by: DecidedBy = "content"
    """`format`: a documented format defines the name; `name`: content left a tie that the name broke."""
    usual: str = ""
    """Of an `error`: the value that notes nothing, which most rows have."""
    example: str = ""
    rows: int = 0
    of: int = 0


class PhaseStamps(Struct, frozen=True, kw_only=True):
    """A phase of every rollout: from the stamp in one field to the stamp in another."""

    name: str
    """`setup`, `agent`, `grading` or `total`."""
    start: str
    end: str


class ResultShape(Struct, frozen=True, kw_only=True):
    """Where a row lists named results, and how they are written down."""

    path: str = ""
    kind: str
    """`map`: names to verdicts; `objects`: a list of objects; `numbered`: a list of verdicts; `sides`: lists of names that
    passed and failed; `traces`: names of failed tests and what each printed; `failures`: what failed, so that passes have an
    empty list; `parallel`: verdicts beside a list of names."""
    verdict: str = ""
    """Field of an object that holds its verdict; of `sides`, that of the names that passed."""
    name: str = ""
    """Field of an object that names it; of `sides`, that of the names that failed; of `parallel`, the path of the names."""


class CallShape(Struct, frozen=True, kw_only=True):
    """How a field that lists calls writes them down."""

    path: str
    inside: str = ""
    """Field of an item that holds the call; empty where the item is the call."""
    name: str
    """Field with the tool."""
    arguments: str
    """Field with the arguments by name."""
    actor: str = ""
    """Field of an item that says who has to call; empty where none does."""


class TalkShape(Struct, frozen=True, kw_only=True):
    """How a trajectory of nobody's harness writes down its items."""

    path: str
    who: str = ""
    """Field of an item with who acts; empty where only the agent does."""
    text: str
    tool: str = ""
    arguments: str = ""
    result: str = ""
    agents: tuple[str, ...] = ()
    """Of those who act, the ones that are the agent."""


class Roles(Struct, frozen=True, kw_only=True, dict=True):
    """The fields of a run, in order of their path."""

    fields: tuple[FieldRole, ...] = ()
    results: tuple[ResultShape, ...] = ()
    """The fields with the role `checks`, in order of their path."""
    response: str = ""
    """The field that holds what the Responses API calls a response, where it is not called so."""
    request: str = ""
    """The same for its request."""
    calls: tuple[CallShape, ...] = ()
    """The fields with the role `expected-actions`, in order of their path."""
    talk: TalkShape | None = None
    """How the field with the role `trajectory` is written, where no known harness writes so."""
    accounts: tuple[str, ...] = ()
    """Objects that hold checks or parts of the score, and are empty in some rows: there the grader left no account."""
    given: tuple[str, ...] = ()
    """Texts without a role of their own that passes have as well and repeats of a task share: what was asked may speak of
    errors, and reports none."""
    phases: tuple[PhaseStamps, ...] = ()
    sampled: int = 0
    """Rows that were looked at."""
    undecided: tuple[str, ...] = ()
    """Sentences about roles that the content could not decide, each with the `--map` that would."""

    def paths(self, role: Role) -> tuple[str, ...]:
        """The field paths with a role."""
        return self._paths.get(role, ())

    # Asked of every row, while a run may have hundreds of fields.

    @cached_property
    def _paths(self) -> Mapping[Role, tuple[str, ...]]:
        found: dict[Role, tuple[str, ...]] = {}
        for field in self.fields:
            if field.role is not None:
                found[field.role] = (*found.get(field.role, ()), field.path)
        return found

    @cached_property
    def breakdowns(self) -> Mapping[str, str]:
        """The fields that by what they hold name what broke, each with the value that notes nothing."""
        return {one.path: one.usual for one in self.fields if one.role == "error" and one.decided_by == "content"}

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """The fields that name how a rollout ended, in order of their path."""
        return tuple(sorted(path for role in ENDINGS for path in self.paths(role) if "[" not in path))

    @cached_property
    def of_an_account(self) -> frozenset[str]:
        """The top-level fields that can hold anything of how a rollout went."""
        told = [path for role in (*ENDINGS, *LOGS) for path in self.paths(role)]
        stamps = [path for one in self.phases for path in (one.start, one.end)]
        return frozenset(path.partition(".")[0] for path in (*told, *stamps))


NO_ROLES = Roles()
