"""Ports of servers: those that the config gives, exactly, and free ones of its range for the others."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from blade.model.errors import RequestError
from blade_gym.config.load import Resolved
from blade_gym.config.servers import Instance, port_choices

PROC = Path("/proc")


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


_OTHER_HEAD = "--head-port N takes another port for the head"
_HEAD = ""
"""The head's name among the instances, none of which has it."""


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
    from blade_gym.run.endpoints import ask_head

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
