"""What a resources server is: it opens a session for a task, answers tool calls, and verifies what came out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from blade.model.errors import RequestError

Row = Mapping[str, Any]
"""A row of a data set, a response or a tool's schema: decoded JSON."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A row with where it stands, for messages."""

    row: Row
    place: str
    """File and line."""


class ToolError(Exception):
    """A call that the environment refuses; the message goes to the model as the tool's output."""


class NoVerdict(Exception):
    """The verifier could not judge (a judge that failed, a sandbox that died). Never a reward of 0.

    `failure_class` is what the failures file says of it.
    """

    def __init__(self, message: str, *, failure_class: str = "judge_failed", terminal: bool = False) -> None:
        super().__init__(message)
        self.failure_class = failure_class
        self.terminal = terminal


FOREIGN = "foreign_row"
UNJUDGEABLE = "skipped"
"""The class of rows that the verifier cannot judge, whatever the answer is."""


class ForeignRow(NoVerdict):
    """The row belongs to other records than those that the environment holds. Raised before a model is asked."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"{message}. What to do: {hint}", failure_class=FOREIGN, terminal=True)
        self.reason, self.hint = message, hint


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a verifier says: a reward, and its own account, which becomes flat fields of the rollout's row."""

    reward: float
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Session(Protocol):
    """One rollout of one task; nothing of it is shared with another."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The tool's output as text; raises ToolError."""
        ...

    async def verify(self, response: Row) -> Verdict:
        """The verdict on a finished response (its `output` is the whole trajectory); raises NoVerdict."""
        ...


class Environment(Protocol):
    """Made once from the config of a resources server.

    One that cannot judge on every machine also has `ready()`, which raises RequestError where it cannot. One whose rows
    could be taken for those of another data set also has `admit(row)`, which raises ForeignRow; its `open` does the same.
    """

    @property
    def tools(self) -> Sequence[Row]:
        """Tools of every task, in the form of the Responses API; tasks may bring their own in the row."""
        ...

    def open(self, row: Row) -> Session:
        """A fresh session for a row of the data set."""
        ...

    def gold(self, row: Row) -> Sequence[Row] | None:
        """The trajectory (`response.output`) that the row's own key says is right; None where the key gives none."""
        ...


def refuse_unready(environments: Iterable[Environment]) -> None:
    """Raise RequestError where one cannot judge on this machine."""
    for environment in environments:
        ready = getattr(environment, "ready", None)
        if ready is not None:
            ready()


def refuse_foreign(environment: Environment, tasks: Iterable[Task]) -> None:
    """Raise RequestError where some rows belong to other records than the environment holds."""
    admit = getattr(environment, "admit", lambda row: None)
    foreign, total = [], 0
    for task in tasks:
        total += 1
        try:
            admit(task.row)
        except ForeignRow as error:
            foreign.append((task.place, error))
    if foreign:
        place, first = foreign[0]
        told = f"{len(foreign)} of {total} rows cannot be judged here; the first is {place}: {first.reason}"
        raise RequestError(told, hint=first.hint)


STATELESS = "stateless"


def reverify_mode(environment: Environment) -> str:
    """Whether stored responses can be judged again: `stateless` unless the environment says otherwise."""
    return str(getattr(environment, "reverify", STATELESS))


async def judge_stored(environment: Environment, row: Row, response: Row) -> Verdict:
    """The verdict on a stored response in a fresh session, after the calls that it holds; raises NoVerdict."""
    session = environment.open(row)
    calls = [item for item in response["output"] if item.get("type") == "function_call"] if environment.tools else []
    for call in calls:
        # The environment is brought to where the rollout left it; what tools say is on record already.
        with suppress(ValueError, RecursionError, ToolError):
            arguments = json.loads(call.get("arguments") or "{}")
            if isinstance(arguments, dict):
                await session.call(call["name"], arguments)
    return await session.verify(response)
