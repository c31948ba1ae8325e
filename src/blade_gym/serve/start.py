"""Servers on loopback in one process: every instance of a config at its own port, and the head, until told to stop.

Ports that the config gives are taken exactly; the others get free ones of its range.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from blade.model.errors import RequestError
from blade_gym.config.load import Resolved
from blade_gym.config.servers import Instance, instances, port_choices
from blade_gym.sandbox.walls import end_all
from blade_gym.serve.fleet import assemble
from blade_gym.serve.guard import RequestGuard, limit_of
from blade_gym.serve.head import head_app, place, record
from blade_gym.serve.web import Aggregate

if TYPE_CHECKING:
    from starlette.types import ASGIApp

GRACE = 2
"""Seconds that requests under way have when the servers stop."""
PROC = Path("/proc")
_HEAD = ""
"""The head's name among the instances, none of which has it."""
_OTHER_HEAD = "--head-port N takes another port for the head"


class _Server(uvicorn.Server):
    """A server whose signals are everybody's, and not its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def start(
    resolved: Resolved, on_ready: Callable[[Sequence[Mapping[str, Any]], str], None], aggregate: Aggregate | None = None
) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` hears of the servers, and of the head's address, when all answer."""
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
        (RequestGuard(app=apps[name], host=hosts[name], most_bytes=most_bytes), listener)
        for name, listener in {**opened, _HEAD: head}.items()
    ]
    asyncio.run(_serve(pairs, lambda: on_ready(listed, f"http://{host}:{port}"), fleet.close))


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


def listeners(resolved: Resolved, head: tuple[str, int]) -> tuple[socket.socket, dict[str, socket.socket]]:
    """A listening socket for the head, and one for each instance.

    Raises one error that names every given port that is taken, by whom, and the setting that gives it.
    """
    opened: dict[str, socket.socket] = {}
    try:
        _open_given(resolved, head, opened)
        free = port_choices(resolved.config, [one for one in resolved.instances if one.name in resolved.given_ports])
        for one in resolved.instances:
            if one.name not in opened:
                opened[one.name] = _next(one, free)
    except RequestError:
        for listener in opened.values():
            listener.close()
        raise
    return opened.pop(_HEAD), opened


def _open_given(resolved: Resolved, head: tuple[str, int], opened: dict[str, socket.socket]) -> None:
    """Open the given ports, the head's among them; what is opened is closed by the caller."""
    wanted = [(_HEAD, *head, "head_server.port")]
    wanted += [
        (one.name, str(one.config["host"]), int(one.config["port"]), f"{one.key}.port")
        for one in resolved.instances
        if one.name in resolved.given_ports
    ]
    taken, hints = [], dict[str, None]()
    for name, host, port, setting in wanted:
        listener = _listening(host, port)
        if listener is None:
            taken.append(f"port {port} of {host} ({setting}) is taken{_by(port)}")
            hints[f"set {setting} to another port, or remove it for a free one" if name else _OTHER_HEAD] = None
        else:
            opened[name] = listener
    if taken:
        raise RequestError("; ".join(taken), hint="; ".join(hints))


def _next(one: Instance, free: Iterator[int]) -> socket.socket:
    for port in free:
        listener = _listening(str(one.config["host"]), port)
        if listener is not None:
            return listener
    raise RequestError(
        f"no port is free for {one.name}",
        hint="port_range_low and port_range_high give the range; see disallowed_ports",
    )


def _listening(host: str, port: int) -> socket.socket | None:
    """A socket that listens there; None where somebody else does.

    It listens at once: ports that are only bound may be bound twice.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise RequestError(
            f"cannot listen at {host}, port {port}: {error.strerror}", hint="host is an address of this machine"
        ) from None
    return listener


def _by(port: int) -> str:
    """Who listens at a port, as far as the system says: its number, its name, and what it serves if it is a head."""
    from blade_gym.serve.head import ask_head

    who = next((f" by process {number} ({name})" for number, name in _processes(_sockets(port))), "")
    with suppress(RequestError):
        names = ", ".join(ask_head("127.0.0.1", port, seconds=1.0).names)
        who += f", a head server of {names}" if names else ""
    return who


def _sockets(port: int) -> set[str]:
    """Links of the sockets that listen at a port, as Linux names them."""
    found = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (PROC / "net" / table).read_text().splitlines()[1:]:
                cells = line.split()
                if cells[3] == "0A" and int(cells[1].rpartition(":")[2], 16) == port:
                    found.add(f"socket:[{cells[9]}]")
    return found


def _processes(sockets: set[str]) -> Iterator[tuple[int, str]]:
    """Processes that hold one of the sockets; other people's cannot be looked into."""
    for folder in PROC.glob("[0-9]*") if sockets else ():
        with suppress(OSError):
            if any(str(link.readlink()) in sockets for link in (folder / "fd").iterdir()):
                yield int(folder.name), (folder / "comm").read_text().strip()
