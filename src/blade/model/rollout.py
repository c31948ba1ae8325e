"""One attempt at one task, and the steps inside it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from blade.model.expected import NOTHING_DUE, Due
from blade.model.tools import NOTHING_OFFERED, Offered

if TYPE_CHECKING:
    from blade.model.account import Account


class Outcome(StrEnum):
    """What became of a rollout; set once, in ingest, from structure and never from text."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    UNSCORED = "unscored"
    MISSING = "missing"


JUDGED = (Outcome.PASSED, Outcome.FAILED)

WHOLE = "completed"
"""How a rollout stops that nothing stopped."""
PASS_TOLERANCE = 1e-9
"""What a reward may lack of the threshold: 0.9999999999999998 is a pass."""


class RolloutKey(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Names one rollout; written `TASK#REPEAT`."""

    run: str
    task_id: str
    repeat: int

    def __str__(self) -> str:
        return f"{self.task_id}#{self.repeat}"


class RowSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where a row stands: byte range of a plain file, or a member of an archive or document."""

    artifact: str
    member: str | None = None
    offset: int | None = None
    length: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.artifact}:{self.line}"
        return f"{self.artifact}:{self.member}" if self.member else self.artifact


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Input that could not be used, or only in part; listed, never dropped."""

    source: RowSource
    reason: str


Party = Literal["agent", "user", "tool", "system"]
Kind = Literal["message", "reasoning", "call", "result", "refusal", "other"]


class Step(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message, thought, call or result of a trajectory; the prompt is not counted."""

    index: int
    """Place in the trajectory as the artifact has it, so that a reader finds it there."""
    party: Party
    kind: Kind
    actor: str | None = None
    """Who acted, where the artifact names somebody: an agent among several, a sub-agent, a speaker."""
    text: str = ""
    tool: str | None = None
    """Name of the tool called, or whose result this is, where it is known."""
    arguments: str | None = None
    """The raw text that the model wrote."""
    call_id: str | None = None
    failed: bool = False
    """A result that reports an error."""
    answers: int | None = None
    """Index of the call that a result belongs to."""


LONGEST_UNMARKED = 300
"""Characters of a result that may be an error though nothing marks it as one."""


class Features(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Counters made once a rollout, cheap enough to make for every row.

    No length is among them: many rollouts of a run have the same counters, and what is worked out from these is kept.
    """

    steps: int = 0
    calls: int = 0
    results: int = 0
    tool_errors: int = 0
    longest_repeat: int = 0
    """Longest run of consecutive calls with the same tool and arguments."""
    alike_results: int = 0
    """Results, where all of them are the same text."""
    long_results: int = 0
    """Results that are longer than an error without a mark can be."""
    orphan_calls: int = 0
    orphan_results: int = 0
    """Results that belong to no call of the trajectory."""
    agent_messages: int = 0
    """Messages of the agent that hold any text."""
    user_messages: int = 0
    refusals: int = 0
    empty_final: bool = False
    """The agent's last step is a message without text, or it left none at all."""
    answered: bool = False
    """The row records an answer that is not blank."""
    stop: str | None = None


class Origin(Protocol):
    """What a rollout was made of; read when it is asked for."""

    def row(self) -> dict[str, object]:
        """The decoded row."""
        ...

    def prompt(self) -> tuple[Step, ...]:
        """What the agent was given before its first turn."""
        ...

    def get(self, name: str, /) -> object:
        """One top-level field of the row, decoded alone; None where there is none."""
        ...

    def names(self) -> tuple[str, ...]:
        """The top-level fields that the row has."""
        ...

    def account(self) -> Account:
        """What the row records of how the rollout went."""
        ...


# No more than fifteen fields are given by name: with sixteen, Python makes a dictionary of them at every call.
class Rollout(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a rule may look at."""

    key: RolloutKey
    outcome: Outcome
    reward: float | None = None
    answer: str | None = None
    expected: str | None = None
    stop: str | None = None
    error: str | None = None
    tokens: int | None = None
    seconds: float | None = None
    source: RowSource
    features: Features | None = None
    """None when the artifact has no trajectory."""
    steps: tuple[Step, ...] | None = None
    """The trajectory in order; None when the artifact has none."""
    due: Due = NOTHING_DUE
    """What the key wants and what the verifier said."""
    origin: Origin | None = None
    offered: Offered = NOTHING_OFFERED
    """The tools of the request; none where the row does not say."""

    @property
    def answered_at_once(self) -> bool:
        """Whether the agent was asked once, without tools, and its answer was taken: what failed then is not its session."""
        if not (self.answer or "").strip():
            return False
        acts = [step for step in self.steps or () if step.kind != "reasoning"]
        plain = len(acts) == 1 and acts[0].kind == "message" and acts[0].party == "agent" and bool(acts[0].text.strip())
        return plain and not self.offered and self.due.calls is None

    @property
    def prompt(self) -> tuple[Step, ...]:
        """What the agent was given before its first turn; empty when it is not recorded."""
        return self.origin.prompt() if self.origin is not None else ()

    @property
    def row(self) -> dict[str, object]:
        """The decoded row as the harness wrote it; empty when it cannot be had."""
        return self.origin.row() if self.origin is not None else {}

    def field(self, name: str) -> object:
        """One top-level field of the row, without decoding the others; None where there is none."""
        return self.origin.get(name) if self.origin is not None else None

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the top-level fields of the row."""
        return self.origin.names() if self.origin is not None else ()

    @property
    def account(self) -> Account:
        """Statuses, logs with their events, and phases of time; empty where the row holds none."""
        if self.origin is not None:
            return self.origin.account()
        from blade.model.account import NO_ACCOUNT

        return NO_ACCOUNT

    @property
    def calls(self) -> tuple[Step, ...]:
        """The tool calls of the trajectory, in order."""
        return tuple(step for step in self.steps or () if step.kind == "call")
