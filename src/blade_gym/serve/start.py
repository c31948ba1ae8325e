"""Servers on loopback in one process: every instance of a config at its own port, and the head, until told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from blade.model.errors import RequestError
from blade_gym.config.load import Resolved
from blade_gym.config.servers import instances
from blade_gym.sandbox.walls import end_all
from blade_gym.serve.fleet import assemble
from blade_gym.serve.guard import Guard, limit_of
from blade_gym.serve.head import head_app, place, record
from blade_gym.serve.listen import listeners
from blade_gym.serve.metrics import Aggregate

if TYPE_CHECKING:
    from starlette.types import ASGIApp

GRACE = 2
"""Seconds that requests under way have when the servers stop."""


class _Server(uvicorn.Server):
    """A server whose signals are everybody's, and not its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def start(
    resolved: Resolved, told: Callable[[Sequence[Mapping[str, Any]], str], None], aggregate: Aggregate | None = None
) -> None:
    """Serve until SIGINT or SIGTERM; `told` hears of the servers, and of the head's address, when all answer."""
    if not resolved.instances:
        raise RequestError("the config has no servers", hint="--resources-server NAME --model-type TYPE names some")
    most_bytes = limit_of(resolved.config)
    fleet = assemble(resolved)
    host, port = place(resolved.config)
    head, opened = listeners(resolved, (host, port))
    config = resolved.config
    for one in resolved.instances:
        config = one.put(config, port=opened[one.name].getsockname()[1])
    listed = [record(one, resolved.roots) for one in instances(config)]
    apps = {**fleet.apps(aggregate), _HEAD: head_app(config, listed)}
    hosts = {**{one.name: str(one.config["host"]) for one in resolved.instances}, _HEAD: host}
    pairs = [
        (Guard(app=apps[name], host=hosts[name], most_bytes=most_bytes), listener)
        for name, listener in {**opened, _HEAD: head}.items()
    ]
    asyncio.run(_serve(pairs, lambda: told(listed, f"http://{host}:{port}"), fleet.close))


_HEAD = ""
"""The head's name among the instances, none of which has it."""


async def _serve(
    pairs: Sequence[tuple[ASGIApp, socket.socket]], ready: Callable[[], None], close: Callable[[], Any]
) -> None:
    servers = [
        _Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE))
        for app, _ in pairs
    ]
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for server in servers:
            server.should_exit = True

    for which in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(which, stop)
    serving = [
        asyncio.create_task(server.serve(sockets=[listener]))
        for server, (_, listener) in zip(servers, pairs, strict=True)
    ]
    try:
        # uvicorn tells nobody when it is ready, but by this flag.
        while not all(server.started or task.done() for server, task in zip(servers, serving, strict=True)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if not any(server.should_exit for server in servers):
            ready()
        await asyncio.gather(*serving)
    finally:
        await close()
        end_all()
