"""What a model is shown, as a policy reads it: the user's words, and each call with what came back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blade_gym.answers import text_of

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Exchange:
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


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A request of the Responses API."""

    asked: str
    exchanges: tuple[Exchange, ...]

    def of(self, tool: str) -> list[Exchange]:
        """The exchanges with one tool, in order."""
        return [one for one in self.exchanges if one.tool == tool]


def read(params: Mapping[str, Any]) -> Conversation:
    """The conversation so far."""
    given = params.get("input")
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    asked = [text_of(item.get("content")) for item in items if item.get("role") == "user"]
    said = given if isinstance(given, str) else asked[-1] if asked else ""
    return Conversation(asked=said, exchanges=tuple(_exchanges(items)))


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
