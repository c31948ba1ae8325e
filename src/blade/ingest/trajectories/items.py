"""Items of a response, as every trajectory is kept: the shape of the Responses API, with the actor's name where one is told."""

from __future__ import annotations

from typing import Any

from blade.ingest.decode import encode
from blade.ingest.terminal import plain_text

Item = dict[str, Any]


def message(role: str, text: str, actor: str | None = None) -> Item:
    return _by(actor, {"type": "message", "role": role, "content": text})


def reasoning(text: str, actor: str | None = None) -> Item:
    return _by(actor, {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]})


def call(tool: str, arguments: object, call_id: object, actor: str | None = None) -> Item:
    """A call; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else encode(arguments if arguments is not None else {}).decode()
    return _by(actor, {"type": "function_call", "name": tool, "arguments": text, "call_id": call_id})


def result(text: str, call_id: object, *, failed: bool = False, actor: str | None = None) -> Item:
    item: Item = {"type": "function_call_output", "call_id": call_id, "output": plain_text(text)}
    return _by(actor, item | ({"error": "reported by the tool"} if failed else {}))


def _by(actor: str | None, item: Item) -> Item:
    return item | {"actor": actor} if actor else item


def text_of(content: object) -> str:
    """The text of a content: itself, or its parts one under the other; a picture is named and not kept."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        for name in ("text", "content", "output", "thinking"):
            if isinstance(content.get(name), str | list):
                return text_of(content[name])
        kind = content.get("type")
        return f"[{kind}]" if isinstance(kind, str) and kind != "text" else ""
    return str(content)
