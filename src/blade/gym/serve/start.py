"""Servers on loopback in one process: every instance of a config at its own port, and the head, until told to stop."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from blade.core.errors import RequestError
from blade.gym.config.load import Resolved
from blade.gym.config.servers import RESOURCES
from blade.gym.run.verifier_code import code_of
from blade.gym.serve.fleet import assemble
from blade.gym.serve.head import head_app, place
from blade.gym.serve.metrics import Aggregate

if TYPE_CHECKING:
    from starlette.applications import Starlette

GRACE = 2
"""Seconds that requests under way have when the servers stop."""
_TRIES = 200


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
    fleet = assemble(resolved)
    apps = fleet.apps(aggregate)
    host, port = place(resolved.config)
    head = _bound(host, port, exactly=True)
    bound = {one.name: _bound(str(one.config["host"]), int(one.config.get("port") or 0)) for one in resolved.instances}
    listed = [
        {
            "name": one.name,
            "group": one.group,
            "type": one.type,
            "host": one.config["host"],
            "port": bound[one.name].getsockname()[1],
            "url": f"http://{one.config['host']}:{bound[one.name].getsockname()[1]}",
            **({"code": code_of([one], resolved.roots)} if one.group == RESOURCES else {}),
        }
        for one in resolved.instances
    ]
    pairs = [(apps[name], listener) for name, listener in bound.items()]
    pairs.append((head_app(resolved.config, listed), head))
    asyncio.run(_serve(pairs, lambda: told(listed, f"http://{host}:{port}"), fleet.close))


async def _serve(
    pairs: Sequence[tuple[Starlette, socket.socket]], ready: Callable[[], None], close: Callable[[], Any]
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


def _bound(host: str, port: int, *, exactly: bool = False) -> socket.socket:
    """A socket at the port; at one of the next where it is taken, unless exactly that one is meant."""
    for wanted in range(port, port + (1 if exactly else _TRIES)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, wanted))
            return listener
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise RequestError(
                    f"cannot listen at {host}, port {wanted}: {error.strerror}",
                    hint="host is an address of this machine",
                ) from None
    hint = "gym env status shows what runs; +head_server.port=N takes another" if exactly else "see disallowed_ports"
    raise RequestError(f"port {port} of {host} is taken", hint=hint)
