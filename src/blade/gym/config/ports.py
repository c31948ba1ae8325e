"""Hosts and ports that a config leaves open, filled in the same way every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blade.gym.config.servers import Instance
from blade.gym.config.tree import Tree, assigned

HOST = "127.0.0.1"
HEAD = {"host": HOST, "port": 11000}
LOW, HIGH = 10001, 20000


def placed(tree: Tree, found: Sequence[Instance]) -> Tree:
    """The tree with `head_server`, and `host` and `port` of every instance; ports that are given or barred are not used."""
    host = tree.get("default_host") or HOST
    head = tree.get("head_server")
    tree = {**tree, "head_server": {**HEAD, **(head if isinstance(head, Mapping) else {})}}
    taken = {tree["head_server"]["port"], *_numbers(tree.get("disallowed_ports"))}
    taken |= {instance.config.get("port") for instance in found}
    free = (port for port in range(_number(tree, "port_range_low", LOW), _number(tree, "port_range_high", HIGH) + 1))
    open_ports = (port for port in free if port not in taken)
    for instance in found:
        given = instance.config
        port = given["port"] if given.get("port") is not None else next(open_ports, None)
        at = instance.key.split(".")
        tree = assigned(tree, at, {**given, "host": given.get("host") or host, "port": port})
    return tree


def _number(tree: Tree, key: str, otherwise: int) -> int:
    given = tree.get(key)
    return given if isinstance(given, int) else otherwise


def _numbers(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
