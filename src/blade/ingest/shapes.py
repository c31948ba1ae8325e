"""Items of a trajectory in every shape that harnesses write, brought to one.

Nearly all trajectories hold nothing but usual items, which are decoded together with their row. Of the others most are
read as typed items in one pass. One odd item (a number for a text, a list in a list) sends the whole trajectory through
`coerce`, which takes any JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from blade.ingest.decode import decode_any

_RAW = msgspec.Raw()
_NOTHING = (b"null", b"false", b'""', b"{}", b"[]", b"0")
_LONGEST_NOTHING = max(map(len, _NOTHING))
_AROUND = ("output", "messages", "items", "history")
"""Names under which an object in place of a trajectory keeps its items."""


class ContentPart(msgspec.Struct, gc=False):
    """One part of a message's content."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = _RAW
    tool_use_id: str | None = None
    content: msgspec.Raw = _RAW
    is_error: bool | None = None


class Function(msgspec.Struct, gc=False):
    """The function of a chat tool call."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class ToolCall(msgspec.Struct, gc=False):
    """A call inside a chat message, in OpenAI's shape or flat."""

    id: str | None = None
    function: Function | str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class TrajectoryItem(msgspec.Struct, gc=False):
    """One item of a trajectory; what is not named here does not matter to a step."""

    type: str | None = None
    role: str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    call_id: str | None = None
    id: str | int | None = None
    content: str | list[ContentPart] | None = None
    output: str | list[ContentPart] | None = None
    summary: str | list[ContentPart] | None = None
    input: msgspec.Raw = _RAW
    action: msgspec.Raw = _RAW
    error: msgspec.Raw = _RAW
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    function: str | None = None
    function_call: Function | None = None
    speaker: str | None = msgspec.field(name="from", default=None)
    value: str | list[ContentPart] | None = None
    text: str | list[ContentPart] | None = None
    thought: str | None = None
    observation: str | list[ContentPart] | None = None
    actor: str | None = None
    agent: str | None = None
    agent_name: str | None = None
    sender: str | None = None
    named_speaker: str | None = msgspec.field(name="speaker", default=None)


class UsualPart(msgspec.Struct, gc=False):
    """A part of a usual item, which is a text."""

    type: Literal["output_text", "text", "input_text", "summary_text", "reasoning_text"] | None = None
    text: str | None = None
    refusal: None = None


class UsualItem(msgspec.Struct, gc=False):
    """A call, a result, a message or a thought, as the Responses API has it.

    What else an `TrajectoryItem` may hold is not there, so that a step is made of it in the same way and in half the time.
    """

    type: Literal["message", "function_call", "function_call_output", "reasoning"]
    role: Literal["assistant", "user"] | None = None
    name: str | None = None
    arguments: str | None = None
    call_id: str | None = None
    content: str | list[UsualPart] | None = None
    output: str | None = None
    summary: list[UsualPart] | None = None
    error: None = None
    tool_calls: None = None
    tool_call_id: None = None
    reasoning_content: None = None
    function: None = None
    function_call: None = None
    speaker: None = msgspec.field(name="from", default=None)
    value: None = None
    text: None = None
    thought: None = None
    observation: None = None
    actor: None = None
    agent: None = None
    agent_name: None = None
    sender: None = None
    named_speaker: None = msgspec.field(name="speaker", default=None)


Content = str | Sequence[ContentPart | UsualPart] | None

_items = msgspec.json.Decoder(list[TrajectoryItem])


def read_items(raw: bytes | msgspec.Raw) -> list[TrajectoryItem]:
    """The items of a raw trajectory, in order; lists inside it are laid out flat, an object around it is opened."""
    try:
        return _items.decode(raw)
    except msgspec.ValidationError:
        return list(coerce(_unwrapped(decode_any(raw))))


def _unwrapped(value: object) -> object:
    """What a response or a chat completion in place of a trajectory holds; every other value as it is."""
    if not isinstance(value, dict) or "role" in value or "type" in value:
        return value
    choices = value.get("choices")
    if isinstance(choices, list):
        return [choice.get("message") for choice in choices[:1] if isinstance(choice, dict)]
    return next((value[name] for name in _AROUND if isinstance(value.get(name), list)), value)


def coerce(value: object) -> Iterator[TrajectoryItem]:
    """Items from any JSON: lists are flattened, scalars are the agent's words, odd fields are turned into text."""
    if isinstance(value, list):
        for item in value:
            if item is None:
                yield TrajectoryItem(type="null")
            else:
                yield from coerce(item)
    elif isinstance(value, dict):
        yield _item(value)
    elif value is not None:
        yield TrajectoryItem(
            type="message", role="assistant", content=value if isinstance(value, str) else compact(value)
        )


def _item(value: dict[str, Any]) -> TrajectoryItem:
    calls = value.get("tool_calls")
    legacy = value.get("function_call")
    return TrajectoryItem(
        type=string(value.get("type")),
        role=string(value.get("role", value.get("from"))),
        name=string(value.get("name")),
        arguments=_arguments(value),
        call_id=string(value.get("call_id")),
        id=string(value.get("id")),
        content=content(value.get("content", value.get("value", value.get("text")))),
        output=content(value.get("output")),
        summary=content(value.get("summary")),
        input=_raw(value.get("input")),
        action=_raw(value.get("action")),
        error=_raw(value.get("error")),
        tool_calls=[_tool_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else None,
        tool_call_id=string(value.get("tool_call_id")),
        reasoning_content=string(value.get("reasoning_content")),
        function=string(value.get("function")),
        function_call=Function(name=string(legacy.get("name")), arguments=_arguments(legacy))
        if isinstance(legacy, dict)
        else None,
        **{name: _name(value.get(key)) for name, key in _NAMES.items()},
        thought=string(value.get("thought")),
        observation=content(value.get("observation")),
    )


_NAMES = {
    "actor": "actor",
    "agent": "agent",
    "agent_name": "agent_name",
    "sender": "sender",
    "named_speaker": "speaker",
}
"""Where an item names who acted; `name` does too, in a message."""


def _name(value: object) -> str | None:
    """A name as it is; of an object, the name in it."""
    return string(value.get("name") if isinstance(value, dict) else value)


def _tool_call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = function if isinstance(function, str) else inner.get("name")
    return ToolCall(id=string(call.get("id")), name=string(name), arguments=_arguments(inner))


def _arguments(call: dict[str, Any]) -> str | None:
    found = call.get("arguments", call.get("kwargs"))
    return found if isinstance(found, str | None) else compact(found)


def _raw(value: object) -> msgspec.Raw:
    return _RAW if value is None else msgspec.Raw(msgspec.json.encode(value))


def content(value: object) -> str | list[ContentPart] | None:
    """The content of a message or result: a text, its parts, or any other value as text."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        return compact(value)
    return [_part(part) for part in value]


_PART_TEXTS = ("type", "text", "refusal", "thinking", "id", "name", "tool_use_id")


def _part(part: object) -> ContentPart:
    if not isinstance(part, dict):
        return ContentPart(type="text", text=part if isinstance(part, str) else compact(part))
    texts = {name: string(part[name]) for name in _PART_TEXTS if name in part}
    return ContentPart(
        **texts,
        input=_raw(part.get("input")),
        content=_raw(part.get("content")),
        is_error=part.get("is_error") is True,
    )


def string(value: object) -> str | None:
    """A text as it is, another scalar as text; no object is one."""
    return value if isinstance(value, str) else None if value is None or isinstance(value, dict | list) else str(value)


def compact(value: object) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def is_set(raw: msgspec.Raw | None) -> bool:
    """Whether a raw field says anything: null, false, zero and what is empty do not."""
    if not raw:
        return False
    view = memoryview(raw)
    return len(view) > _LONGEST_NOTHING or bytes(view) not in _NOTHING


def raw_text(raw: msgspec.Raw) -> str:
    """A raw text as it reads, anything else as JSON; empty when there is nothing."""
    if not is_set(raw):
        return ""
    value = decode_any(raw)
    return value if isinstance(value, str) else compact(value)
