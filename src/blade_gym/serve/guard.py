"""What a server on a port refuses before its routes see it: other sites, other names of this machine, and floods.

A page in a browser on this machine reaches loopback too. It cannot set these headers freely: a name that was rebound to
loopback shows in `Host`, a foreign page in `Origin`, and a form can send no JSON content type.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from blade.model.errors import RequestError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")
LIMIT = "max_request_mb"
MEGABYTES = 256
"""Of a request, where the config sets no limit: a row with pictures, or the metrics' rows of a large run, is far below."""


def limit_of(config: Mapping[str, Any]) -> int:
    """Bytes that a request may have: `max_request_mb` of the config; raises where that is no number above 0."""
    given = config.get(LIMIT)
    megabytes = MEGABYTES if given is None else given
    if not isinstance(megabytes, int | float) or isinstance(megabytes, bool) or not 0 < megabytes < 1e6:
        raise RequestError(f"{LIMIT} is a number above 0, not {given!r}", hint=f"+{LIMIT}={MEGABYTES}")
    return int(megabytes * 1_000_000)


class RequestGuard(msgspec.Struct, frozen=True, kw_only=True):
    """An application that only answers requests which mean this server, and reads no more of them than the limit."""

    app: ASGIApp
    host: str
    """As the config has it; loopback names are always right."""
    most_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the application, or with the reason of a refusal."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope["method"], Headers(scope=scope))
        except HTTPException as refused:
            await PlainTextResponse(refused.detail, refused.status_code, {"Connection": "close"})(scope, receive, send)
            return
        await self._answer(scope, self._counted(receive), send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer; a request that is given up because the server stops hears that, without a trace."""
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except asyncio.CancelledError:
            if not begun:
                await PlainTextResponse("the server stops", 503)(scope, receive, send)

    def _check(self, method: str, headers: Headers) -> None:
        named = headers.get("host", "")
        if not self._is_ours(_name(named)):
            raise HTTPException(421, f"this server is not called {named!r}: ask for {self.host}, or set host")
        for origin in headers.getlist("origin"):
            if origin != f"http://{named}":
                raise HTTPException(403, f"requests of pages of {origin} are refused")
        if method != "POST":
            return
        kind = ", ".join(headers.getlist("content-type")).partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, f"the body is sent as application/json, not as {kind or 'nothing'}")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.most_bytes:
            raise self._too_large()

    def _is_ours(self, name: str) -> bool:
        if name in (*LOOPBACK, self.host.lower()):
            return True
        # Who listens everywhere is asked for by any address; a rebound name is never an address.
        return self.host in EVERYWHERE and (_is_address(name) or name == socket.gethostname().lower())

    def _counted(self, receive: Receive) -> Receive:
        """The same messages, up to the limit: a body in chunks has no length to look at before."""
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.most_bytes:
                raise self._too_large()
            return message

        return counted

    def _too_large(self) -> HTTPException:
        return HTTPException(
            413, f"the request is larger than {self.most_bytes / 1e6:g} MB: {LIMIT} of `gym env start` sets the limit"
        )


def _name(host: str) -> str:
    """A Host header without its port."""
    name, _, port = host.rpartition(":")
    bare = name if name and port.isdecimal() and (not name.count(":") or name.startswith("[")) else host
    return bare.strip("[]").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
