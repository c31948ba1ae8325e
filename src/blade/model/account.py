"""What a row says about a rollout beside its trajectory: how it ended, what was printed, how long each part took."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from blade.model.log import NOTHING_LOGGED, Log
from blade.model.made_once import made_once


class Status(Struct, frozen=True, gc=False, kw_only=True):
    """A short value with which a harness or a verifier names how a rollout ended."""

    field: str
    """Dotted path in the row."""
    value: str


def _reads_nothing(_text: str) -> Log:
    return NOTHING_LOGGED


class LogText(Struct, frozen=True, kw_only=True, dict=True):
    """A long text that was printed while the rollout was run or graded."""

    field: str
    """Dotted path in the row."""
    text: str
    of_agent: bool = False
    """The agent's own terminal or program printed it, not the grader."""
    reader: Callable[[str], Log] = _reads_nothing

    @made_once
    def parsed(self) -> Log:
        """What happened according to the text; read when it is first asked for, since most rollouts never need it."""
        return self.reader(self.text)


class Phase(Struct, frozen=True, gc=False, kw_only=True):
    """A part of a rollout's time between two recorded stamps, or a recorded duration."""

    name: str
    """`setup`, `agent`, `grading` or `total` where the stamps tell; else the field's own words."""
    seconds: float
    field: str


class Account(Struct, frozen=True, kw_only=True):
    """Everything that the row records of how the rollout went; what it does not hold is empty."""

    statuses: tuple[Status, ...] = ()
    logs: tuple[LogText, ...] = ()
    """The grader's own log first, where the roles tell it from the agent's terminal."""
    phases: tuple[Phase, ...] = ()


NO_ACCOUNT = Account()
