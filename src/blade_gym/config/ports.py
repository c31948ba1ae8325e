"""Hosts and ports that a config leaves open, filled in the same way every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blade_gym.config.problem import ConfigProblem
from blade_gym.config.servers import Instance
from blade_gym.config.tree import Tree, assigned

HOST = "127.0.0.1"
HEAD = {"host": HOST, "port": 11000}
LOW, HIGH = 10001, 20000
HIGHEST = 65535


def placed(tree: Tree, found: Sequence[Instance]) -> Tree:
    """The tree with `head_server`, and `host` and `port` of every instance; ports that are given or barred are not used."""
    head = tree.get("head_server")
    tree = {**tree, "head_server": {**HEAD, **(head if isinstance(head, Mapping) else {})}}
    free = choices(tree, [one for one in found if _port(one) is not None])
    for one in found:
        port = _port(one) if _port(one) is not None else next(free, None)
        host = one.config.get("host") or tree.get("default_host") or HOST
        tree = assigned(tree, (one.name, one.group, one.type), {**one.config, "host": host, "port": port})
    return tree


def given(found: Sequence[Instance]) -> frozenset[str]:
    """Names of the instances whose port the config itself gives."""
    return frozenset(one.name for one in found if _port(one) is not None)


def choices(tree: Mapping[str, Any], fixed: Sequence[Instance]) -> Iterator[int]:
    """Ports of the config's range in their order, without the head's, barred ones, and those of instances with a given one."""
    barred = tree.get("disallowed_ports")
    named = (head_of(tree)[1], *(barred if isinstance(barred, list) else ()), *(_port(one) for one in fixed))
    used = {port for port in named if isinstance(port, int)}
    low, high = _number(tree, "port_range_low", LOW), _number(tree, "port_range_high", HIGH)
    return (port for port in range(max(low, 1), min(high, HIGHEST) + 1) if port not in used)


def head_of(tree: Mapping[str, Any]) -> tuple[str, Any]:
    """Host and port of the head server, the port as it is given."""
    head = tree.get("head_server")
    given = {name: value for name, value in head.items() if value} if isinstance(head, Mapping) else {}
    return str(given.get("host", HEAD["host"])), given.get("port", HEAD["port"])


def problems(tree: Tree, found: Sequence[Instance]) -> Iterator[ConfigProblem]:
    """Ports that are none, a range that holds none, and ports that two servers claim."""
    low, high = _number(tree, "port_range_low", LOW), _number(tree, "port_range_high", HIGH)
    if low > high:
        yield ConfigProblem(kind="server", key="port_range_low", message=f"{low} is above port_range_high, {high}")
    claimed: dict[int, str] = {}
    head = ("head_server", "head_server", head_of(tree)[1])
    for name, key, port in (head, *((one.name, one.key, _port(one)) for one in found)):
        if port is None:
            continue
        if (wrong := fault(port)) is not None:
            yield _wrong(key, wrong)
        elif port in claimed:
            yield _wrong(key, f"{port} is the port of {claimed[port]} too")
        else:
            claimed[port] = name


def fault(port: object) -> str | None:
    """Why a value is no port; None where it is one."""
    good = isinstance(port, int) and not isinstance(port, bool) and 1 <= port <= HIGHEST
    return None if good else f"is a whole number from 1 to {HIGHEST}, not {port!r}"


def _port(one: Instance) -> Any:
    return one.config.get("port")


def _number(tree: Mapping[str, Any], key: str, otherwise: int) -> int:
    given = tree.get(key)
    return given if isinstance(given, int) else otherwise


def _wrong(key: str, message: str) -> ConfigProblem:
    return ConfigProblem(kind="server", key=f"{key}.port", message=message)
