"""A verifier as an environment: tasks of one answer, without tools of its own.

Most verifiers judge a text, some the whole output; all are plain functions, run in a thread so that a slow one holds
nobody up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn, Protocol

import msgspec

from blade.model.errors import RequestError
from blade_gym.answers import last_message, message
from blade_gym.environment import Environment, Row, Session, ToolError, Verdict

Config = Mapping[str, Any]
Judge = Callable[[Row, Sequence[Row]], Awaitable[Verdict]]
Gold = Callable[[Row], Sequence[Row] | None]


class TextVerifier(Protocol):
    """A module that judges a text of the assistant: its last message, unless the server says otherwise."""

    def verify(self, row: Row, text: str, config: Config) -> Verdict:
        """The verdict on a text; raises NoVerdict."""
        ...

    def gold(self, row: Row) -> str | None:
        """A text that the row's own key says is right; None where the key gives none."""
        ...


class OutputVerifier(Protocol):
    """A module that judges the whole output: calls, not only words."""

    def verify(self, row: Row, output: Sequence[Row], config: Config) -> Verdict:
        """The verdict on the items of a response; raises NoVerdict."""
        ...

    def gold(self, row: Row) -> Sequence[Row] | None:
        """Items that the row's own key says are right; None where the key gives none."""
        ...


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    row: Row
    judge: Judge

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> NoReturn:
        raise ToolError(f"There is no tool named {tool!r} here.")

    async def verify(self, response: Row) -> Verdict:
        output = response.get("output")
        items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
        return await self.judge(self.row, items)


class SingleTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An environment of one verifier."""

    judge: Judge
    golden: Gold
    ready: Callable[[], None] = lambda: None
    """Raises RequestError where this machine cannot judge: called before a model is asked anything."""

    @property
    def tools(self) -> Sequence[Row]:
        """None; a task may bring its own, whose calls are judged and not carried out."""
        return ()

    def open(self, row: Row) -> Session:
        """A session that holds the row."""
        return _Session(row=row, judge=self.judge)

    def gold(self, row: Row) -> Sequence[Row] | None:
        """What the row's own key says is right."""
        return self.golden(row)


def of_text(
    verifier: TextVerifier, config: Config, text_of: Callable[[Sequence[Row]], str] = last_message
) -> Environment:
    """An environment of a verifier of texts; `text_of` says which text of the output it judges."""

    async def judge(row: Row, output: Sequence[Row]) -> Verdict:
        return await asyncio.to_thread(verifier.verify, row, text_of(output), config)

    def golden(row: Row) -> Sequence[Row] | None:
        text = verifier.gold(row)
        return None if text is None else (message(text),)

    return SingleTurn(judge=judge, golden=golden, ready=getattr(verifier, "ready", lambda: None))


def of_output(verifier: OutputVerifier, config: Config) -> Environment:
    """An environment of a verifier of whole outputs."""

    async def judge(row: Row, output: Sequence[Row]) -> Verdict:
        return await asyncio.to_thread(verifier.verify, row, output, config)

    return SingleTurn(judge=judge, golden=verifier.gold, ready=getattr(verifier, "ready", lambda: None))


def needed(*modules: str, requirement: str | None = None) -> None:
    """Raise RequestError, with the command that installs them, where a module is missing.

    `requirement` is of a package that is installed without its dependencies; the others come with the extra `gym`.
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        how = "pip install 'blade-bench[gym]'" if requirement is None else f"pip install --no-deps '{requirement}'"
        raise RequestError(f"the verifier needs {', '.join(missing)}, which is not installed", hint=how)
