"""An OpenAI-compatible server on loopback that answers sums, and misbehaves when it is told to.

A fault is chosen by the number in the prompt and by how often that prompt was asked, so that every run meets the same.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

KEY = "sk-loopback-5f3a9c1d7e"
Fault = Callable[[int, int], str | None]
"""From the number asked for and the try (from 1) to the name of a fault, or None."""


def _message(**more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": None, **more}]}


BODIES: dict[str, bytes] = {
    "empty body": b"",
    "not an object": b"[]",
    "error with 200": b'{"error": {"message": "overloaded"}, "output": [], "choices": []}',
    "no output": b'{"id": "x", "status": "completed", "choices": null}',
    "output without status": b'{"output": [], "choices": [{}]}',
    "status unknown": b'{"output": [], "status": "queued", "choices": [{"message": null}]}',
    "only reasoning": json.dumps(
        {"output": [{"type": "reasoning", "summary": []}], **_message(message={"content": "", "reasoning": "hm"})}
    ).encode(),
    "items of wrong types": json.dumps(
        {"status": "completed", "output": ["8"], **_message(message="8", finish_reason="stop")}
    ).encode(),
    "item without type": json.dumps(
        {"status": "completed", "output": [{"role": "assistant", "content": "8"}], **_message(message={"content": 8})}
    ).encode(),
    "content of wrong type": json.dumps(
        {
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": None}]}],
            **_message(message={"content": {"text": "8"}}, finish_reason="stop"),
        }
    ).encode(),
    "parts of wrong type": json.dumps(
        {
            "status": "completed",
            "output": [{"type": "message", "content": "8"}],
            **_message(message={"content": [{"type": "chart"}]}, finish_reason="stop"),
        }
    ).encode(),
    "call without name": json.dumps(
        {
            "status": "completed",
            "output": [{"type": "function_call", "call_id": "c", "arguments": "{}"}],
            **_message(message={"tool_calls": {"id": "c"}}, finish_reason="tool_calls"),
        }
    ).encode(),
    "nothing said": json.dumps({"status": None, "output": [], **_message()}).encode(),
    "broken off": json.dumps({"status": "failed", "output": [], **_message(finish_reason="error")}).encode(),
}
"""Replies with HTTP 200 that are no answer, in both dialects."""


@dataclass
class Endpoint:
    """What the server does, and what it saw."""

    fault: Fault = lambda number, tried: None
    routes: tuple[str, ...] = ("responses", "chat")
    delay: float = 0.0
    use_tool: bool = False
    key: str | None = KEY
    """None where no key may be sent."""
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    at_once: int = 0

    async def answer(self, request: Request) -> Response:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(request)
        finally:
            self.at_once -= 1

    async def _answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != (f"Bearer {self.key}" if self.key else None):
            return JSONResponse({"error": {"message": "Incorrect API key"}}, status_code=401)
        body = await request.json()
        self.bodies.append(body)
        chat = request.url.path.endswith("/chat/completions")
        text, results = _prompt(body["messages"] if chat else body["input"], body)
        number = int(re.findall(r"\d+", text)[0])
        self.asked[text] += 1
        await asyncio.sleep(self.delay)
        bad = await self._misbehave(number, self.asked[text])
        if bad is not None:
            return bad
        call = self.use_tool and not results
        return JSONResponse(_chat(number, call) if chat else _response(number, call, body))

    async def _misbehave(self, number: int, tried: int) -> Response | None:
        fault = self.fault(number, tried)
        if fault in BODIES:
            return Response(BODIES[fault], media_type="application/json")
        if fault == "500":
            return JSONResponse({"error": {"message": "out of luck"}}, status_code=500)
        if fault == "401":
            return JSONResponse({"error": {"message": "Incorrect API key"}}, status_code=401)
        if fault == "429":
            return PlainTextResponse("slow down", status_code=429, headers={"Retry-After": "0.05"})
        if fault == "400":
            return JSONResponse({"error": {"message": "context too long"}}, status_code=400)
        if fault == "echo":
            return JSONResponse({"error": {"message": f"what is {self.key}? Ask again."}}, status_code=400)
        if fault == "malformed":
            return PlainTextResponse('{"output": [')
        if fault == "no choices":
            return JSONResponse({"choices": [], "output": "none"})
        if fault == "slow":
            await asyncio.sleep(3)
        if fault == "drop":
            return Dropped()
        if fault == "truncated":
            return Truncated()
        return None


class Dropped(Response):
    """The connection ends without a word."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raise ConnectionResetError("dropped on purpose")


class Truncated(Response):
    """The body is shorter than its length says."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"5000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id": "resp_1", "output": [{"type"', "more_body": True})
        raise ConnectionResetError("truncated on purpose")


def _prompt(items: Any, body: dict[str, Any]) -> tuple[str, int]:
    """The user's words, and how many tool results there are."""
    if isinstance(items, str):
        return items, 0
    words = [str(item["content"]) for item in items if item.get("role") == "user"]
    results = [item for item in items if item.get("type") == "function_call_output" or item.get("role") == "tool"]
    return words[-1], len(results)


def _response(number: int, call: bool, body: dict[str, Any]) -> dict[str, Any]:
    said = {"type": "output_text", "text": str(2 * number), "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": [said]}
    if call:
        arguments = json.dumps({"a": number, "b": number})
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": arguments}
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    return {
        "id": "resp_1",
        "object": "response",
        "model": "adder-1",
        "status": "completed",
        "output": [item],
        "usage": usage,
    }


def _chat(number: int, call: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": str(2 * number)}
    if call:
        arguments = json.dumps({"a": number, "b": number})
        made = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [made]}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    finish = "tool_calls" if call else "stop"
    return {
        "id": "chat_1",
        "model": "adder-1",
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": usage,
    }


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[Endpoint]:
    """The server in a thread, on a free port, until the end of the block."""
    paths = {"responses": "/v1/responses", "chat": "/v1/chat/completions"}
    routes = [Route(paths[name], endpoint.answer, methods=["POST"]) for name in endpoint.routes]
    with listening(Starlette(routes=routes)) as port:
        endpoint.url = f"http://127.0.0.1:{port}/v1"
        yield endpoint


@contextmanager
def listening(app: Starlette) -> Iterator[int]:
    """An application in a thread, on a free port, which is given, until the end of the block."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
