"""A model's server: the Responses API and Chat Completions over one model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request

from blade_gym.models.model import Model
from blade_gym.serve.web import Body, PostRoute, application

_MEDIA = ("image_url", "input_audio")
_PROMISED: dict[str, Any] = {"created_at": 0, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
"""What the API promises of every response, and agents of NeMo Gym insist on; many endpoints leave it out."""
_SAME = ("temperature", "top_p", "parallel_tool_calls", "user", "stop")


def model_app(name: str, model: Model) -> Starlette:
    """The routes of one model."""

    async def respond(request: Request, params: Body) -> dict[str, Any]:
        asked = dict(params)
        seed = asked.pop("seed", None)
        reply = await model.respond(asked, seed=seed if isinstance(seed, int) else None)
        given = {name: asked[name] for name in _PROMISED if asked.get(name) is not None}
        return {**_PROMISED, **given, **reply}

    async def chat(request: Request, body: Body) -> dict[str, Any]:
        if not isinstance(body.get("messages"), list):
            raise HTTPException(422, "messages is a list")
        seed = body.get("seed")
        return as_chat(await model.respond(from_request(body), seed=seed if isinstance(seed, int) else None))

    posts = (
        PostRoute(path="/v1/responses", summary="The Responses API", answer=respond),
        PostRoute(path="/v1/chat/completions", summary="Chat Completions", answer=chat),
    )
    listing = {"object": "list", "data": [{"id": model.name, "object": "model"}]}
    return application(name, posts, {"/v1/models": lambda: listing})


def from_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """A chat request as one of the Responses API."""
    params: dict[str, Any] = {"input": [item for message in body["messages"] for item in _items(message)]}
    params |= {name: body[name] for name in _SAME if body.get(name) is not None}
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    if most:
        params["max_output_tokens"] = most
    if body.get("tools"):
        params["tools"] = [{"type": "function", **tool.get("function", {})} for tool in body["tools"]]
    wanted = body.get("response_format")
    if isinstance(wanted, Mapping) and wanted.get("type") != "text":
        params["text"] = {"format": {"type": wanted.get("type"), **(wanted.get("json_schema") or {})}}
    return params


def _items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if message.get("role") == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message.get("tool_call_id"),
            "output": _plain(message.get("content")),
        }
        return
    if message.get("content"):
        yield {"role": message.get("role") or "user", "content": _content(message["content"])}
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        yield {
            "type": "function_call",
            "call_id": call.get("id"),
            "name": function.get("name"),
            "arguments": function.get("arguments") or "{}",
        }


def _content(content: object) -> str | list[dict[str, Any]]:
    """A content as the Responses API has it: its text, or its parts where some are pictures or sound."""
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    kinds = {str(part.get("type")) for part in parts}
    unknown = sorted(kinds - {"text", *_MEDIA})
    if unknown:
        raise HTTPException(422, f"content of type {unknown[0]} is not known here")
    return [_part(part) for part in parts] if kinds & set(_MEDIA) else _plain(content)


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": str(part.get("text") or "")}
    if part["type"] == "input_audio":
        return {"type": "input_audio", "input_audio": part.get("input_audio")}
    picture = part.get("image_url")
    picture = picture if isinstance(picture, Mapping) else {"url": picture}
    detail = {"detail": picture["detail"]} if picture.get("detail") else {}
    return {"type": "input_image", "image_url": picture.get("url"), **detail}


def _plain(content: object) -> str:
    """A content's text: parts joined, and anything else as JSON."""
    if isinstance(content, str) or content is None:
        return content or ""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return json.dumps(content)


def as_chat(response: Mapping[str, Any]) -> dict[str, Any]:
    """A response object as a chat completion."""
    texts = [
        str(part.get("text") or part.get("refusal") or "")
        for item in response["output"]
        if item.get("type") == "message"
        for part in item.get("content") or ()
    ]
    calls = [
        {"id": item["call_id"], "type": "function", "function": {"name": item["name"], "arguments": item["arguments"]}}
        for item in response["output"]
        if item.get("type") == "function_call"
    ]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    finish = "tool_calls" if calls else "length" if response.get("incomplete_details") else "stop"
    usage = response.get("usage") or {}
    return {
        "id": response.get("id"),
        "object": "chat.completion",
        "created": int(response.get("created_at") or 0),
        "model": response.get("model"),
        "choices": [
            {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": finish}
        ],
        "usage": {
            "prompt_tokens": usage.get("input_tokens") or 0,
            "completion_tokens": usage.get("output_tokens") or 0,
            "total_tokens": usage.get("total_tokens") or 0,
        },
    }
