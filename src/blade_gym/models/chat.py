"""Requests of the Responses API as Chat Completions, and the replies back; nothing that matters is dropped silently."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blade_gym.models.model import ModelError
from blade_gym.models.reply import call_item, malformed, message_item, reasoning_item, response_object

_SAME = ("temperature", "top_p", "parallel_tool_calls", "user", "seed", "stop", "top_k", "min_p", "logit_bias")
_PARTS = ("input_text", "output_text", "text", "summary_text")
_MEDIA = ("input_image", "input_audio")


def chat_request(params: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a chat request that asks the same; raises ModelError for what chat has no words for."""
    asked: dict[str, Any] = {"messages": messages(params.get("input") or [], params.get("instructions"))}
    asked |= {name: params[name] for name in _SAME if params.get(name) is not None}
    if params.get("model"):
        asked["model"] = params["model"]
    if params.get("max_output_tokens") is not None:
        asked["max_tokens"] = params["max_output_tokens"]
    if params.get("top_logprobs"):
        asked |= {"logprobs": True, "top_logprobs": params["top_logprobs"]}
    if isinstance(params.get("reasoning"), Mapping) and params["reasoning"].get("effort"):
        asked["reasoning_effort"] = params["reasoning"]["effort"]
    return asked | _tools(params) | _format(params)


def messages(items: str | Sequence[Mapping[str, Any]], instructions: str | None = None) -> list[dict[str, Any]]:
    """Items as chat messages: calls join the assistant's message before them, and all leading instructions are one."""
    chat: list[dict[str, Any]] = [{"role": "system", "content": instructions}] if instructions else []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type") or "message"
        if kind == "message":
            role = "system" if item.get("role") == "developer" else item.get("role") or "user"
            content = item.get("content")
            whole = [_part(part) for part in content or ()] if media_of(content) else _text(content)
            chat.append({"role": role, "content": whole})
        elif kind == "function_call":
            if not chat or chat[-1]["role"] != "assistant":
                chat.append({"role": "assistant", "content": None})
            function = {"name": item.get("name"), "arguments": item.get("arguments") or "{}"}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            chat[-1].setdefault("tool_calls", []).append(call)
        elif kind == "function_call_output":
            output = _text(item.get("output"))
            chat.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
        elif kind != "reasoning":  # what a model thought is not sent again
            raise _unsupported(f"items of type {kind}")
    # Many chat templates take one system message, at the start.
    leading = next((n for n, message in enumerate(chat) if message["role"] != "system"), len(chat))
    if leading < 2:
        return chat
    joined = "\n\n".join(_text(message["content"]) for message in chat[:leading])
    return [{"role": "system", "content": joined}, *chat[leading:]]


def media_of(content: object) -> list[str]:
    """The kinds of parts of a content that are pictures or sound."""
    parts = content if isinstance(content, list) else []
    return [str(part["type"]) for part in parts if isinstance(part, Mapping) and part.get("type") in _MEDIA]


def _part(part: object) -> dict[str, Any]:
    if not isinstance(part, Mapping) or part.get("type") not in _MEDIA:
        return {"type": "text", "text": _text([part])}
    if part["type"] == "input_audio":
        return {"type": "input_audio", "input_audio": part.get("input_audio")}
    detail = {"detail": part["detail"]} if part.get("detail") else {}
    return {"type": "image_url", "image_url": {"url": part.get("image_url"), **detail}}


def _text(content: object) -> str:
    """The text of a content; parts that hold none are not for chat."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in _PARTS:
            texts.append(str(part.get("text") or ""))
        elif kind == "refusal":
            texts.append(str(part.get("refusal") or ""))
        else:
            raise _unsupported(f"content of type {kind}")
    return "".join(texts)


def _tools(params: Mapping[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    if params.get("tools"):
        asked["tools"] = [_tool(tool) for tool in params["tools"]]
    choice = params.get("tool_choice")
    if choice and asked:
        named = isinstance(choice, Mapping) and choice.get("name")
        asked["tool_choice"] = {"type": "function", "function": {"name": named}} if named else choice
    return asked


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    if tool.get("type", "function") != "function":
        raise _unsupported(f"tools of type {tool.get('type')}")
    names = ("name", "description", "parameters", "strict")
    return {"type": "function", "function": {name: tool[name] for name in names if tool.get(name) is not None}}


def _format(params: Mapping[str, Any]) -> dict[str, Any]:
    text = params.get("text")
    wanted = text.get("format") if isinstance(text, Mapping) else None
    if not isinstance(wanted, Mapping) or wanted.get("type", "text") == "text":
        return {}
    if wanted["type"] != "json_schema":
        return {"response_format": {"type": wanted["type"]}}
    schema = {name: wanted[name] for name in ("name", "schema", "strict") if wanted.get(name) is not None}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer"} | schema}}


def _unsupported(what: str) -> ModelError:
    return ModelError(f"Chat Completions cannot carry {what}", failure_class="unsupported_request", again=False)


def from_chat(reply: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """A chat reply as a response object; raises ModelError where it is no such reply."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise malformed("the reply has no choices with a message", reply)
    finish = _finish(choice)
    identity = str(reply.get("id") or "chat")
    output = list(_output(message, identity))
    if finish is None and not any(message.get(key) for key in ("content", "refusal", "tool_calls")):
        raise malformed("the reply has no text, no tool call and no finish_reason", reply)
    return response_object(
        id=f"resp_{identity}",
        created_at=reply.get("created") or 0,
        model=reply.get("model") or params.get("model"),
        output=output,
        stop=_STOPS.get(finish or ""),
        usage=_usage(reply.get("usage")),
        params=params,
    )


_STOPS = {"length": "max_output_tokens", "content_filter": "content_filter"}
_BROKEN_OFF = ("error", "abort", "cancelled")
"""Reasons by which servers say that they failed on the way."""


def _finish(choice: Mapping[str, Any]) -> str | None:
    finish = choice.get("finish_reason")
    if choice.get("error") or finish in _BROKEN_OFF:
        raise ModelError(f"the endpoint broke off: {choice.get('error') or finish!r}"[:300], failure_class="transient")
    if not isinstance(finish, str | None):
        raise malformed("finish_reason is not a string", choice)
    return finish or None


def _output(message: Mapping[str, Any], identity: str) -> Iterable[dict[str, Any]]:
    thought = message.get("reasoning_content") or message.get("reasoning")
    calls = message.get("tool_calls") or []
    if thought:
        yield reasoning_item(str(thought), f"rs_{identity}")
    if message.get("content") or message.get("refusal") or not calls:
        yield message_item(_content_text(message), f"msg_{identity}", refusal=message.get("refusal"))
    if not isinstance(calls, list):
        raise malformed("tool_calls is not a list", message)
    for number, call in enumerate(calls):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
            raise malformed("a tool call has no name", message)
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        yield call_item(function["name"], text, str(call.get("id") or f"call_{identity}_{number}"))


def _content_text(message: Mapping[str, Any]) -> str:
    """The text of a reply's message; raises ModelError where its content is something else."""
    content = message.get("content")
    if not isinstance(content, str | list | None) or not isinstance(message.get("refusal"), str | None):
        raise malformed("the content of the message is not a string", message)
    try:
        return _text(content)
    except ModelError:
        raise malformed("the content of the message is not a string", message) from None


def _usage(usage: object) -> dict[str, Any] | None:
    if not isinstance(usage, Mapping):
        return None
    inside, thought = (
        usage[key] if isinstance(usage.get(key), Mapping) else {}
        for key in ("prompt_tokens_details", "completion_tokens_details")
    )
    asked, given = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": inside.get("cached_tokens") or 0},
        "output_tokens": given,
        "output_tokens_details": {"reasoning_tokens": thought.get("reasoning_tokens") or 0},
        "total_tokens": usage.get("total_tokens") or asked + given,
    }
