"""Policies of known habits as models: named in the config, written beside the resources server that they act in.

Each `resources_servers/*/policies.py` lists its policies in `POLICIES`. A policy sees the conversation and nothing else, and
is never taken for a real model: its name begins with `scripted/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from blade.model.errors import RequestError
from blade_gym.answers import text_of
from blade_gym.config.servers import RESOURCES
from blade_gym.environment import Row
from blade_gym.loading import load_file
from blade_gym.models.model import Model

PREFIX = "scripted/"
SCRIPTED = "scripted_model"
Call = tuple[str, dict[str, Any]]
"""A tool, and its arguments."""


class ScriptedPolicy(Protocol):
    """What a `policies.py` lists: the class of a model."""

    name: ClassVar[str]
    """`scripted/...`"""
    acts_by: ClassVar[str]
    """A tool of the environment that it knows."""

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The next step; the same for the same conversation and seed."""
        ...

    async def close(self) -> None:
        """Nothing to let go of."""
        ...


def policies(roots: Sequence[Path]) -> dict[str, type[ScriptedPolicy]]:
    """Every policy by name; of two with one name, the one of the first root."""
    found: dict[str, type[ScriptedPolicy]] = {}
    for path in (path for root in roots for path in sorted((root / RESOURCES).glob("*/policies.py"))):
        for policy in load_file(path).POLICIES:
            found.setdefault(policy.name, policy)
    return found


def scripted(config: Mapping[str, Any], roots: Sequence[Path]) -> Model:
    """The policy that `config['policy']` names, with or without `scripted/`; raises for a name that is none."""
    return _named(config, policies(roots))()


def refuse_unfit(config: Mapping[str, Any], roots: Sequence[Path], where: str, tools: Iterable[Row]) -> None:
    """Raise where a policy is put into an environment that has none of the tools that it acts by."""
    there, known = {str(tool.get("name")) for tool in tools}, policies(roots)
    policy = _named(config, known)
    if policy.acts_by not in there:
        fitting = [name.removeprefix(PREFIX) for name, one in known.items() if one.acts_by in there]
        raise RequestError(
            f"the policy {policy.name} acts by the tool {policy.acts_by}, which {where} does not have",
            hint=f"policies for {where}: {', '.join(fitting)}" if fitting else "no scripted policy acts in it",
        )


def _named(config: Mapping[str, Any], known: Mapping[str, type[ScriptedPolicy]]) -> type[ScriptedPolicy]:
    name = PREFIX + str(config.get("policy") or "").removeprefix(PREFIX)
    if name not in known:
        names = ", ".join(sorted(one.removeprefix(PREFIX) for one in known))
        raise RequestError(f"no scripted policy is called {config.get('policy')!r}", hint=f"known: {names}")
    return known[name]


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the policy and the tool's answer to it."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    """The answer as it came."""

    @property
    def failed(self) -> bool:
        """Whether the answer is an error."""
        return self.text.lstrip('{" ').lower().startswith("error")

    @property
    def output(self) -> Any:
        """What the tool put out; the text itself where that is no JSON."""
        try:
            value = json.loads(self.text)
        except ValueError:
            return self.text
        return value.get("output", value) if isinstance(value, dict) else value


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A request of the Responses API."""

    asked: str
    exchanges: tuple[Exchange, ...]

    def of(self, tool: str) -> list[Exchange]:
        """The exchanges with one tool, in order."""
        return [one for one in self.exchanges if one.tool == tool]


def read_conversation(params: Mapping[str, Any]) -> Conversation:
    """The conversation so far."""
    given = params.get("input")
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    asked = [text_of(item.get("content")) for item in items if item.get("role") == "user"]
    request = given if isinstance(given, str) else asked[-1] if asked else ""
    return Conversation(asked=request, exchanges=tuple(_exchanges(items)))


def _exchanges(items: list[dict[str, Any]]) -> Iterator[Exchange]:
    answers = {item.get("call_id"): item.get("output") for item in items if item.get("type") == "function_call_output"}
    for item in items:
        if item.get("type") == "function_call":
            answer = answers.get(item.get("call_id"))
            yield Exchange(
                tool=str(item.get("name")),
                arguments=json.loads(item.get("arguments") or "{}"),
                text=answer if isinstance(answer, str) else "",
            )
