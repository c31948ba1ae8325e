"""Items and objects of the Responses API: as models here make them, and as replies of endpoints must have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blade_gym.models.model import ModelError

ZERO = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}
_ECHOED = ("instructions", "temperature", "top_p", "max_output_tokens")


def message_item(text: str, identity: str, *, refusal: str | None = None) -> dict[str, Any]:
    """What the assistant says."""
    said: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    content = {"type": "refusal", "refusal": refusal} if refusal else said
    return {"type": "message", "id": identity, "role": "assistant", "status": "completed", "content": [content]}


def reasoning_item(text: str, identity: str) -> dict[str, Any]:
    """What the assistant thought."""
    return {"type": "reasoning", "id": identity, "summary": [{"type": "summary_text", "text": text}]}


def call_item(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    """A call of a tool; arguments are JSON text, valid or not."""
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, "status": "completed"}


def output_item(call_id: str, text: str) -> dict[str, Any]:
    """What a tool answered."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def response_object(
    *,
    id: str,  # noqa: A002 - the API's own name
    model: str | None,
    output: Sequence[Mapping[str, Any]],
    params: Mapping[str, Any],
    stop: str | None = None,
    usage: Mapping[str, Any] | None = None,
    created_at: float = 0,
) -> dict[str, Any]:
    """A whole response; `stop` is why it is incomplete, where it is."""
    return {
        "id": id,
        "object": "response",
        "created_at": created_at,
        "model": model,
        "status": "incomplete" if stop else "completed",
        "error": None,
        "incomplete_details": {"reason": stop} if stop else None,
        **{name: params[name] for name in _ECHOED if params.get(name) is not None},
        "output": list(output),
        "usage": dict(usage) if usage is not None else None,
    }


def summed(usages: Sequence[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    """Usage over several calls; None where none was recorded, for 0 would be a claim."""
    known = [usage for usage in usages if isinstance(usage, Mapping)]
    if not known:
        return None
    total: dict[str, Any] = {name: _sum(known, name) for name in ("input_tokens", "output_tokens", "total_tokens")}
    for name, inner in (("input_tokens_details", "cached_tokens"), ("output_tokens_details", "reasoning_tokens")):
        details = [usage[name] for usage in known if isinstance(usage.get(name), Mapping)]
        total[name] = {inner: _sum(details, inner)}
    return {name: total[name] for name in ZERO}


def _sum(maps: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(value for one in maps if isinstance(value := one.get(name), int))


def checked_response(value: dict[str, Any]) -> dict[str, Any]:
    """A response object of an endpoint as it is; raises ModelError where it cannot be taken for an answer.

    An empty answer is one only where `status` says that the response ended: a broken proxy gives `"output": []` too.
    """
    status, output = value.get("status"), value.get("output")
    if status in ("failed", "cancelled"):
        raise ModelError(f"the response is {status}", failure_class="transient")
    if status not in (None, "completed", "incomplete"):
        raise malformed(f"the response has the status {status!r}", value)
    if not isinstance(output, list):
        raise malformed("the response has no list of output items", value)
    for item in output:
        _check_item(item)
    if status is None and not any(item["type"] in ("message", "function_call") for item in output):
        raise malformed("the response has no status, no message and no call", value)
    return value


def _check_item(item: Any) -> None:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        raise malformed("an output item is not an object with a type", item)
    if item["type"] == "message":
        parts = item.get("content")
        if not isinstance(parts, list) or not all(_is_part(part) for part in parts):
            raise malformed("the content of a message is not a list of texts", item)
    elif item["type"] == "function_call":
        if not all(isinstance(item.get(key), str) and item[key] for key in ("name", "call_id")):
            raise malformed("a function call has no name or id", item)
        if not isinstance(item.get("arguments"), str | None):
            raise malformed("the arguments of a function call are not a string", item)


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    key = {"output_text": "text", "refusal": "refusal"}.get(part["type"])
    return key is None or isinstance(part.get(key), str)


def malformed(why: str, reply: object) -> ModelError:
    """A reply that is not what the API promises; another try may give one that is."""
    return ModelError(f"{why}: {str(reply)[:200]}", failure_class="bad_response")
