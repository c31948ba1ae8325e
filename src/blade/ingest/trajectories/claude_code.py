"""Claude Code's `--output-format stream-json`: one event a line, also out of a terminal that wrapped the lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from blade.ingest.folder_files import json_object
from blade.ingest.terminal import json_objects, plain_text
from blade.ingest.trajectories.items import Item, call, message, reasoning, result, text_of

_EVENTS = ("system", "assistant", "user", "result")
_SIDE = "subagent"


class AgentSession(Struct, frozen=True, kw_only=True):
    """What an agent did, and what its log says beside that."""

    items: Sequence[Item]
    about: Mapping[str, Any]
    """Model, settings, usage, cost and how the session ended, as the log tells them."""
    other_text: str = ""
    """Lines of the log that are no events: what the shell and the program itself printed."""
    is_cut: bool = False
    """Whether the log begins in the middle, so that what is absent may have happened."""


def is_event(value: Mapping[str, object]) -> bool:
    """Whether an object is an event of the stream."""
    kind = value.get("type")
    if kind in ("assistant", "user"):
        return isinstance(value.get("message"), dict)
    return kind in _EVENTS and ("subtype" in value or "session_id" in value)


def read_session(text: str) -> AgentSession | None:
    """The session of a log or of a terminal's capture; None where no event is in it."""
    events: list[Mapping[str, Any]] = []
    lines: list[str] = []
    for value, line in json_objects(plain_text(text).split("\n")):
        if value is not None and is_event(value):
            events.append(value)
        elif line.strip():
            lines.append(line)
    if not events:
        return None
    return AgentSession(
        items=list(_items(events)),
        about=_about(events),
        other_text="\n".join(lines),
        is_cut=not any(event.get("subtype") == "init" for event in events),
    )


def _items(events: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    for event in events:
        if event["type"] not in ("assistant", "user"):
            continue
        actor = _SIDE if event.get("parent_tool_use_id") else None
        content = event["message"].get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": text_of(content)}]
        for part in map(json_object, parts):
            yield from _part(part, str(event["type"]), actor)


def _part(part: Mapping[str, Any], role: str, actor: str | None) -> Iterator[Item]:
    kind = part.get("type")
    if kind == "tool_use":
        yield call(str(part.get("name") or ""), part.get("input"), part.get("id"), actor)
    elif kind == "tool_result":
        failed = bool(part.get("is_error"))
        yield result(text_of(part.get("content")), part.get("tool_use_id"), failed=failed, actor=actor)
    elif kind in ("thinking", "redacted_thinking"):
        yield reasoning(text_of(part.get("thinking")), actor)
    elif text := text_of(part):
        yield message(role, text, actor)


def _about(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the first and the last event tell of the session."""
    start = next((event for event in events if event.get("subtype") == "init"), {})
    about = {name: start[name] for name in ("model", "claude_code_version", "permissionMode") if start.get(name)}
    end = next((event for event in reversed(events) if event["type"] == "result"), None)
    if end is None:
        return about | {"ended": False} | _retries(events)
    kept = ("subtype", "is_error", "num_turns", "duration_ms", "duration_api_ms", "total_cost_usd", "usage", "result")
    return about | {"ended": True} | {name: end[name] for name in kept if end.get(name) is not None}


FEWEST_RETRIES = 3
"""Retries at the end of a log without a reply: one or two are a hiccup."""


def _retries(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The last of the failed requests to the model with which a log ends; nothing where a reply follows them."""
    last = next((place for place, event in enumerate(reversed(events)) if event.get("subtype") != "api_retry"), 0)
    if last < FEWEST_RETRIES:
        return {}
    end = events[-1]
    words = [str(end[name]) for name in ("error_status", "error") if end.get(name) is not None]
    return {"last_error": f"request failed: {' '.join(words)}, attempt {end.get('attempt', last)}"}
