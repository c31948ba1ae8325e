"""A trajectory in any of its shapes to steps by party, and the counters made from them.

Understood: Responses items, chat messages with tool calls, content parts, lists inside lists, plain strings.
Several steps share an index when one item of the artifact holds several (a chat message with calls in it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from blade.core.rollout import Features, Kind, Party, Step
from blade.ingest.decode import decode_any, encode

_RAW = msgspec.Raw()


class Part(msgspec.Struct, gc=False):
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


class Item(msgspec.Struct, gc=False):
    """One item of a trajectory; what is not named here does not matter to a step."""

    type: str | None = None
    role: str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    call_id: str | None = None
    id: str | int | None = None
    content: str | list[Part] | None = None
    output: str | list[Part] | None = None
    summary: str | list[Part] | None = None
    input: msgspec.Raw = _RAW
    action: msgspec.Raw = _RAW
    error: msgspec.Raw = _RAW
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    function: str | None = None


_items = msgspec.json.Decoder(list[Item])

_PARTY: dict[str | None, Party] = {
    "assistant": "agent",
    "model": "agent",
    "ai": "agent",
    "gpt": "agent",
    "agent": "agent",
    None: "agent",
    "user": "user",
    "human": "user",
    "environment": "user",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}

_ERROR_HEAD = re.compile(
    r"""\s*(?:
        \W{0,3}(?:tool\s+|http\s+|api\s+)?error\b(?!["']?\s*:\s*(?:null|none|false|""|''|\[\]|\{\}))
      | traceback\s\(most\srecent
      | \w*(?:error|exception):\s
      | command\s(?:failed|timed\sout)
      | \{\s*["'](?:output|result|content|message)["']\s*:\s*["']error\b
      | \{\s*["'](?:success|ok)["']\s*:\s*false
      | \{\s*["'](?:status)["']\s*:\s*["'](?:error|failed)
      | \{\s*["']is_?error["']\s*:\s*true
      | \{\s*["'](?:returncode|exit_?code)["']\s*:\s*-?[1-9]
      | (?:exit\scode|exit\sstatus|return\scode):?\s*-?[1-9]
      | failed\sto\s
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_HEAD = 160


def read_steps(raw: bytes | msgspec.Raw) -> tuple[Step, ...]:
    """Steps of a raw trajectory; a shape that cannot be read gives no step rather than an error."""
    try:
        items = _items.decode(raw)
    except msgspec.MsgspecError:
        items = list(_coerce(decode_any(raw)))
    return tuple(_Walk().steps(items))


def after_prompt(items: list[object]) -> list[object]:
    """Chat messages from the agent's first turn on: what comes before is the prompt."""
    for index, item in enumerate(items):
        if isinstance(item, dict) and (_is_call(item) or _PARTY.get(_role(item), "agent") in ("agent", "tool")):
            return items[index:]
    return []


def before_agent(items: list[object]) -> list[object]:
    """Messages before the agent's first turn."""
    return items[: len(items) - len(after_prompt(items))]


def _role(item: dict[str, object]) -> str | None:
    role = item.get("role", item.get("from"))
    return role.lower() if isinstance(role, str) else None


def _is_call(item: dict[str, object]) -> bool:
    return isinstance(item.get("type"), str) and str(item["type"]).endswith("_call")


def _coerce(value: object) -> Iterator[Item]:
    """Items from any JSON: lists are flattened, strings are the agent's words, odd fields are turned into text."""
    if isinstance(value, list):
        for item in value:
            yield from _coerce(item)
    elif isinstance(value, str):
        yield Item(type="message", role="assistant", content=value)
    elif isinstance(value, dict):
        yield _coerce_object(value)


def _coerce_object(value: dict[str, Any]) -> Item:
    arguments = value.get("arguments", value.get("kwargs"))
    return Item(
        type=_string(value.get("type")),
        role=_role(value),
        name=_string(value.get("name")),
        arguments=arguments if isinstance(arguments, str | None) else _compact(arguments),
        call_id=_string(value.get("call_id")),
        content=_content(value.get("content", value.get("value", value.get("text")))),
        output=_content(value.get("output")),
        summary=_content(value.get("summary")),
        input=msgspec.Raw(encode(value["input"])) if value.get("input") is not None else _RAW,
        action=msgspec.Raw(encode(value["action"])) if value.get("action") is not None else _RAW,
        error=msgspec.Raw(encode(value["error"])) if value.get("error") is not None else _RAW,
        tool_calls=[_tool_call(call) for call in value["tool_calls"] if isinstance(call, dict)]
        if isinstance(value.get("tool_calls"), list)
        else None,
        tool_call_id=_string(value.get("tool_call_id")),
        reasoning_content=_string(value.get("reasoning_content")),
        function=_string(value.get("function")),
    )


def _tool_call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = function if isinstance(function, str) else inner.get("name")
    arguments = inner.get("arguments", inner.get("kwargs", inner.get("input")))
    text = arguments if isinstance(arguments, str | None) else _compact(arguments)
    return ToolCall(id=_string(call.get("id")), name=_string(name), arguments=text)


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None if value is None or isinstance(value, dict | list) else str(value)


def _content(value: object) -> str | list[Part] | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        return _compact(value)
    return [_part(part) for part in value]


def _part(part: object) -> Part:
    if not isinstance(part, dict):
        return Part(type="text", text=part if isinstance(part, str) else _compact(part))
    known = {
        name: part[name]
        for name in ("type", "text", "refusal", "thinking", "id", "name", "tool_use_id")
        if name in part
    }
    fields: dict[str, Any] = {name: _string(value) for name, value in known.items()}
    for name in ("input", "content"):
        if part.get(name) is not None:
            fields[name] = msgspec.Raw(encode(part[name]))
    return Part(**fields, is_error=part.get("is_error") is True)


def _compact(value: object) -> str:
    return msgspec.json.encode(value).decode()


class _Walk:
    """Turns items into steps in order, joining each result to the nearest earlier unanswered call with its id."""

    def __init__(self) -> None:
        self.open: list[Step] = []

    def steps(self, items: Iterable[Item]) -> Iterator[Step]:
        for index, item in enumerate(items):
            yield from self._item(index, item)

    def _item(self, index: int, item: Item) -> Iterator[Step]:
        kind = item.type
        if kind == "function_call":
            yield self._call(index, item.name, item.arguments, item.call_id)
        elif kind == "function_call_output":
            yield self._result(index, _text(item.output), item.call_id, bool(item.error))
        elif kind == "reasoning":
            yield Step(index=index, party="agent", kind="reasoning", text=_thoughts(item))
        elif kind is None or kind == "message":
            yield from self._message(index, item)
        else:
            yield from self._rarer(index, item, kind)

    def _rarer(self, index: int, item: Item, kind: str) -> Iterator[Step]:
        call_id = item.call_id or item.tool_call_id or _string(item.id)
        if kind.endswith("_output") or kind == "tool_result":
            yield self._result(
                index, _text(item.output if item.output is not None else item.content), call_id, bool(item.error)
            )
        elif kind.endswith("_call") or kind == "tool_use":
            arguments = item.arguments if item.arguments is not None else _raw_text(item.input or item.action)
            yield self._call(index, item.name or kind, arguments, call_id)
            if item.output is not None or item.error:
                yield self._result(index, _text(item.output) or _raw_text(item.error), call_id, bool(item.error))
        elif item.role is not None or item.content is not None:
            yield from self._message(index, item)
        else:
            yield Step(index=index, party="agent", kind="other", text=kind)

    def _message(self, index: int, item: Item) -> Iterator[Step]:
        party = _PARTY.get(item.role.lower() if item.role else None, "user")
        if party == "tool":
            yield self._result(
                index,
                _text(item.content),
                item.tool_call_id or item.call_id,
                bool(item.error),
                item.name or item.function,
            )
            return
        if item.reasoning_content:
            yield Step(index=index, party=party, kind="reasoning", text=item.reasoning_content)
        yield from self._content(index, party, item)
        for call in item.tool_calls or ():
            function = call.function if isinstance(call.function, Function) else None
            name = function.name if function else call.function if isinstance(call.function, str) else call.name
            yield self._call(index, name, function.arguments if function else call.arguments, call.id)

    def _content(self, index: int, party: Party, item: Item) -> Iterator[Step]:
        if isinstance(item.content, list) and any(p.type not in _TEXT_PARTS for p in item.content):
            yield from self._parts(index, party, item.content)
        else:
            text = _text(item.content)
            if text or not item.tool_calls:
                yield Step(index=index, party=party, kind="message", text=text)

    def _parts(self, index: int, party: Party, parts: list[Part]) -> Iterator[Step]:
        for part in parts:
            if part.type == "refusal" or part.refusal:
                yield Step(index=index, party=party, kind="refusal", text=part.refusal or part.text or "")
            elif part.type in ("tool_use", "tool_call"):
                yield self._call(index, part.name, _raw_text(part.input), part.id)
            elif part.type == "tool_result":
                text = _text(_content(decode_any(part.content))) if part.content else ""
                yield self._result(index, text, part.tool_use_id, bool(part.is_error))
            elif part.type in ("thinking", "reasoning"):
                yield Step(index=index, party=party, kind="reasoning", text=part.thinking or part.text or "")
            elif part.text is not None:
                yield Step(index=index, party=party, kind="message", text=part.text)
            else:
                yield Step(index=index, party=party, kind="other", text=part.type or "")

    def _call(self, index: int, tool: str | None, arguments: str | dict[str, Any] | None, call_id: str | None) -> Step:
        text = arguments if isinstance(arguments, str) else "" if arguments is None else _compact(arguments)
        step = Step(index=index, party="agent", kind="call", tool=tool or "", arguments=text, call_id=call_id)
        self.open.append(step)
        return step

    def _result(self, index: int, text: str, call_id: str | None, failed: bool, tool: str | None = None) -> Step:
        call = self._answered(call_id)
        return Step(
            index=index,
            party="tool",
            kind="result",
            text=text,
            tool=call.tool if call else tool,
            call_id=call_id,
            failed=failed or reports_error(text),
            answers=call.index if call else None,
        )

    def _answered(self, call_id: str | None) -> Step | None:
        for place in range(len(self.open) - 1, -1, -1):
            if call_id is None or self.open[place].call_id == call_id:
                return self.open.pop(place)
        return None


_TEXT_PARTS = frozenset(("output_text", "text", "input_text", None))


def _text(content: str | list[Part] | None) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if len(content) == 1:
        return content[0].text or ""
    return "\n".join(part.text for part in content if part.text)


def _thoughts(item: Item) -> str:
    return "\n".join(text for text in (_text(item.summary), _text(item.content)) if text)


def _raw_text(raw: msgspec.Raw) -> str:
    if not raw:
        return ""
    value = decode_any(raw)
    return value if isinstance(value, str) else bytes(raw).decode()


def reports_error(text: str) -> bool:
    """Whether a tool's result opens with an error; told from its first characters only."""
    return bool(text) and _ERROR_HEAD.match(text[:_LONGEST_HEAD]) is not None


def count(steps: tuple[Step, ...], stop: str | None) -> Features:
    """The counters of a trajectory, in one walk."""
    calls = results = tool_errors = agent_messages = agent_chars = user_messages = refusals = 0
    longest = streak = 0
    previous: tuple[str | None, str | None] | None = None
    last_agent: Step | None = None
    for step in steps:
        kind: Kind = step.kind
        if kind == "call":
            calls += 1
            agent_chars += len(step.arguments or "")
            this = (step.tool, step.arguments)
            streak = streak + 1 if this == previous else 1
            longest = max(longest, streak)
            previous = this
            last_agent = step
        elif kind == "result":
            results += 1
            tool_errors += step.failed
        elif step.party == "agent":
            if kind in ("message", "refusal"):
                last_agent = step
                refusals += kind == "refusal"
                agent_messages += bool(step.text.strip())
                agent_chars += len(step.text)
        elif step.party == "user":
            user_messages += 1
    return Features(
        steps=len(steps),
        calls=calls,
        results=results,
        tool_errors=tool_errors,
        longest_repeat=longest,
        orphan_calls=calls - sum(1 for step in steps if step.answers is not None),
        agent_messages=agent_messages,
        agent_chars=agent_chars,
        user_messages=user_messages,
        refusals=refusals,
        empty_final=last_agent is None or (last_agent.kind == "message" and not last_agent.text.strip()),
        stop=stop,
    )


def fingerprint(steps: Iterable[Step]) -> int | None:
    """The same for the same sequence of assistant texts, tool names and arguments; None when there is none."""
    digest = blake2b(digest_size=8)
    empty = True
    for step in steps:
        if step.kind == "call":
            digest.update(
                b"\x01%b\x02%b" % ((step.tool or "").encode(), (step.arguments or "").encode("utf-8", "replace"))
            )
            empty = False
        elif step.party == "agent" and step.kind in ("message", "refusal") and step.text:
            digest.update(b"\x03" + step.text.encode("utf-8", "replace"))
            empty = False
    return None if empty else int.from_bytes(digest.digest())
