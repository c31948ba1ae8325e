"""Values read by the shapes that were learned for their fields: trajectories as messages, lists of calls as calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from blade.ingest.decode import encode
from blade.model.roles import CallShape, TalkShape

AGENTS = frozenset(("assistant", "agent", "model", "ai", "gpt", "bot", "llm", "chatbot"))
USERS = frozenset(("user", "human", "customer", "client", "caller", "simulator", "operator", "op"))
OTHERS = {"tool": "tool", "function": "tool", "environment": "tool", "env": "tool", "system": "system"}
"""What people call those who take part: values, never names of fields."""
CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)", re.DOTALL)
"""A call as code writes it, such as `click("12")`, where one field holds both the tool and its arguments."""
USERS_IN_KEYS = ("user", "customer", "client", "human")
"""Who has to call in place of the agent."""


def as_items(value: Any, shape: TalkShape) -> Any:
    """A trajectory as messages, one an item, with calls and results among their parts; anything else as it is."""
    if not isinstance(value, list):
        return value
    if not value and not shape.text:
        # Only calls are recorded: none were made, and whether anything was said is not known.
        return [{"type": "no_call"}]
    return [_as_item(item, shape, place) if isinstance(item, dict) else item for place, item in enumerate(value)]


def _as_item(item: Mapping[str, Any], shape: TalkShape, place: int) -> dict[str, Any]:
    who = item.get(shape.who) if shape.who else None
    role = _role(who, shape) if isinstance(who, str) else "assistant"
    named = {"actor": who} if isinstance(who, str) and who.lower() not in (*AGENTS, *USERS, *OTHERS) else {}
    text = item.get(shape.text)
    said = text if isinstance(text, str) else "" if text is None else encode(text).decode()
    tool, given = _call(item, shape)
    if not isinstance(tool, str) or not tool:
        return {"role": role, **named, "content": said}
    call_id = f"call_{place}"
    parts: list[dict[str, Any]] = [{"type": "text", "text": said}] if said else []
    parts.append({"type": "tool_use", "name": tool, "input": given, "id": call_id})
    back = item.get(shape.result) if shape.result else None
    if back is not None:
        shown = back if isinstance(back, str) else encode(back).decode()
        parts.append({"type": "tool_result", "tool_use_id": call_id, "content": shown})
    return {"role": role, **named, "content": parts}


def _call(item: Mapping[str, Any], shape: TalkShape) -> tuple[Any, Any]:
    """The tool and its arguments: in fields of their own, in one object, or written as in code."""
    if shape.tool == shape.arguments:
        whole = item.get(shape.tool)
        written = CALL.fullmatch(whole.strip("` \n")) if isinstance(whole, str) else None
        return (written[1], {"arguments": written[2]}) if written else (whole, {})
    if not shape.tool.startswith(f"{shape.arguments}."):
        return item.get(shape.tool), item.get(shape.arguments) or {}
    held, name = item.get(shape.arguments), shape.tool.removeprefix(f"{shape.arguments}.")
    if not isinstance(held, dict):
        return None, {}
    return held.get(name), {key: value for key, value in held.items() if key != name}


def _role(who: str, shape: TalkShape) -> str:
    if who in shape.agents:
        return "assistant"
    return OTHERS.get(who.lower(), "user")


def as_calls(value: Any, shape: CallShape) -> Any:
    """A list of calls under the names that the readers of keys know; anything else as it is."""
    if not isinstance(value, list):
        return value
    return [_as_call(item, shape) for item in value]


def _as_call(item: Any, shape: CallShape) -> Any:
    if isinstance(item, list):
        return [_as_call(one, shape) for one in item]
    holder = item.get(shape.inside) if isinstance(item, dict) and shape.inside else item
    if not isinstance(holder, dict) or not isinstance(holder.get(shape.name), str):
        return item
    plain = {"name": holder[shape.name], "arguments": holder.get(shape.arguments) or {}}
    kept = {name: item[name] for name in ("compare_args", "requestor") if name in item}
    if not shape.actor or not isinstance(item.get(shape.actor), str):
        return plain | kept
    return plain | kept | {"requestor": "user" if item[shape.actor].lower() in USERS_IN_KEYS else "assistant"}
