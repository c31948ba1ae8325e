"""Server instances: `<name>: {<group>: {<type>: {entrypoint, ...}}}`, the references between them, their numbers and ports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from blade_gym.config import dataset as datasets
from blade_gym.config.compose import MISSING, Tree
from blade_gym.config.problem import ConfigProblem, suggestion

RESOURCES, AGENTS, MODELS = "resources_servers", "responses_api_agents", "responses_api_models"
GROUPS = (RESOURCES, AGENTS, MODELS)
POLICY = "policy_model"
LENIENT = "error_on_almost_servers"
HOST = "127.0.0.1"
HEAD = {"host": HOST, "port": 11000}
LOW, HIGH = 10001, 20000
HIGHEST = 65535
DOMAINS = (
    *("math", "coding", "agent", "knowledge", "instruction_following", "long_context"),
    *("safety", "games", "translation", "e2e", "rlhf", "other"),
)
RESERVED = (
    *("config_paths", "entrypoint", "python_version", "results_dir", "cache_dir", "hf_token"),
    *("default_host", "head_server", "disallowed_ports", "port_range_low", "port_range_high"),
    *("verbose", "json", "query", "component_name", "dry_run"),
    *("observability_enabled", "model_call_capture_dir", "token_id_capture"),
    *("skip_verification", "skip_verification_reward"),
)
"""Settings of NeMo Gym: a server of such a name would be read as one of them."""
_WHOLE, _ABOVE, _FROM = "a whole number from 1", "a number above 0", "a number from 0"
_RETRIES = {"max_tries": _WHOLE, "retry_seconds": _FROM}
_NUMBERS = {
    "simple_agent": {"max_steps": _WHOLE, "rollout_timeout_seconds": _ABOVE},
    "openai_model": {"timeout_seconds": _ABOVE, **_RETRIES},
    "vllm_model": {"timeout_seconds": _ABOVE, **_RETRIES},
    "local_model": {"threads": _WHOLE, "context": _WHOLE, **_RETRIES},
    "replay_model": _RETRIES,
    "scripted_model": _RETRIES,
}
"""Numbers in the blocks of our agents and models, by type; those of other types are their own."""


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """A server that a config names; `type` is the folder that holds its `entrypoint`."""

    name: str
    group: str
    """resources_servers, responses_api_agents or responses_api_models."""
    type: str
    config: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Where its config stands in the whole."""
        return f"{self.name}.{self.group}.{self.type}"

    def put(self, tree: Mapping[str, Any], **values: Any) -> Tree:
        """The tree with these values in the instance's config."""
        return {**tree, self.name: {self.group: {self.type: {**self.config, **values}}}}


def instances(tree: Mapping[str, Any]) -> tuple[Instance, ...]:
    """The servers of a config in its order; blocks that are none are left out (see `problems`)."""
    return tuple(
        Instance(name=name, group=group, type=kind, config=config)
        for name, block in tree.items()
        if isinstance(block, Mapping) and not list(_malformed(name, block))
        for group in GROUPS
        if group in block
        for kind, config in block[group].items()
    )


def problems(tree: Tree) -> list[ConfigProblem]:
    """Blocks that look like a server and are none, and entries of data sets that cannot be used."""
    problems: list[ConfigProblem] = []
    for name, block in tree.items():
        if isinstance(block, Mapping) and any(group in block for group in GROUPS):
            problems += _malformed(name, block)
    for instance in instances(tree):
        if instance.name in RESERVED:
            problems.append(_wrong(instance.name, "is a name that settings use; give the server another"))
        if not instance.config.get("entrypoint"):
            problems.append(_wrong(instance.key, "has no entrypoint", "entrypoint: app.py"))
        domain = instance.config.get("domain")
        if instance.group == RESOURCES and domain not in DOMAINS:
            message = f"no known domain: {domain}" if domain else "has no domain"
            hint = suggestion(str(domain), DOMAINS) or f"one of: {', '.join(DOMAINS)}"
            problems.append(_wrong(instance.key, message, hint))
        entries = instance.config.get("datasets") or []
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            problems += datasets.problems(entry, f"{instance.key}.datasets.{index}")
    return problems


def _malformed(name: str, block: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    groups = [group for group in GROUPS if group in block]
    if len(groups) != 1 or len(block) != 1:
        others = ", ".join(str(key) for key in block)
        yield _wrong(name, f"a server has one key, one of {', '.join(GROUPS)}; this has {others or 'none'}")
        return
    kinds = block[groups[0]]
    if not isinstance(kinds, Mapping) or len(kinds) != 1:
        yield _wrong(f"{name}.{groups[0]}", "holds exactly one type of server")
        return
    kind, config = next(iter(kinds.items()))
    if not isinstance(config, Mapping):
        yield _wrong(f"{name}.{groups[0]}.{kind}", "is a mapping with entrypoint and the server's own keys")


def dangling(servers: Sequence[Instance]) -> Iterator[ConfigProblem]:
    """References to instances that no config defines."""
    for instance in servers:
        for key, group, name in references(instance.config, instance.key):
            named = [other.name for other in servers if other.group == group]
            if name in named:
                continue
            hint = suggestion(name, named)
            if elsewhere := next((other.group for other in servers if other.name == name), None):
                hint = f"{name} is one of {elsewhere}"
            elif group == MODELS and name == POLICY:
                hint = "--model-type NAME adds it; `gym list models` names them"
            message = f"refers to {name} of {group}, which no config defines"
            yield ConfigProblem(kind="reference", key=key, message=message, hint=hint)


def references(node: Any, key: str) -> Iterator[tuple[str, str, str]]:
    """Every `{type: <group>, name: <instance>}` below a node: where it stands, its group and its name."""
    if isinstance(node, Mapping):
        if node.get("type") in GROUPS and isinstance(node.get("name"), str):
            yield key, str(node["type"]), str(node["name"])
        for name, value in node.items():
            yield from references(value, f"{key}.{name}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from references(value, f"{key}.{index}")


def number_problems(servers: Sequence[Instance]) -> Iterator[ConfigProblem]:
    """Values that are not the numbers that they have to be; what is null, or filled in only later, is left alone."""
    for instance in servers:
        for name, what in _NUMBERS.get(instance.type, {}).items():
            given = instance.config.get(name)
            if given is None or (isinstance(given, str) and ("${" in given or given == MISSING)):
                continue
            if not _is_number(given, what):
                yield _wrong(f"{instance.key}.{name}", f"is {what}, not {given!r}")


def _is_number(value: object, what: str) -> bool:
    """Whether a value, or the text of one as a variable gives it, is such a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if what == _WHOLE:
        return str(value).isdecimal() and int(value) >= 1
    try:
        number = float(value)
    except ValueError:
        return False
    return math.isfinite(number) and (number > 0 if what == _ABOVE else number >= 0)


def with_ports(tree: Tree, servers: Sequence[Instance]) -> Tree:
    """The tree with `head_server`, and `host` and `port` of every instance, the same ones every time; ports that are
    given or barred are not used.
    """
    head = tree.get("head_server")
    tree = {**tree, "head_server": {**HEAD, **(head if isinstance(head, Mapping) else {})}}
    free = port_choices(tree, servers)
    for instance in servers:
        given = instance.config.get("port")
        host = instance.config.get("host") or tree.get("default_host") or HOST
        tree = instance.put(tree, host=host, port=next(free, None) if given is None else given)
    return tree


def port_choices(tree: Mapping[str, Any], fixed: Sequence[Instance]) -> Iterator[int]:
    """Ports of the config's range in their order, without the head's, barred ones, and those of instances with a given one."""
    barred = tree.get("disallowed_ports")
    given = (instance.config.get("port") for instance in fixed)
    named = (head_of(tree)[1], *(barred if isinstance(barred, list) else ()), *given)
    used = {port for port in named if isinstance(port, int)}
    low, high = _number(tree, "port_range_low", LOW), _number(tree, "port_range_high", HIGH)
    return (port for port in range(max(low, 1), min(high, HIGHEST) + 1) if port not in used)


def head_of(tree: Mapping[str, Any]) -> tuple[str, Any]:
    """Host and port of the head server, the port as it is given."""
    head = tree.get("head_server")
    given = {name: value for name, value in head.items() if value} if isinstance(head, Mapping) else {}
    return str(given.get("host", HEAD["host"])), given.get("port", HEAD["port"])


def port_problems(tree: Tree, servers: Sequence[Instance]) -> Iterator[ConfigProblem]:
    """Ports that are none, a range that holds none, and ports that two servers claim."""
    low, high = _number(tree, "port_range_low", LOW), _number(tree, "port_range_high", HIGH)
    if low > high:
        yield _wrong("port_range_low", f"{low} is above port_range_high, {high}")
    claimed: dict[int, str] = {}
    head = ("head_server", "head_server", head_of(tree)[1])
    for name, key, port in (head, *((server.name, server.key, server.config.get("port")) for server in servers)):
        if port is None:
            continue
        if (fault := port_fault(port)) is not None:
            yield _wrong(f"{key}.port", fault)
        elif port in claimed:
            yield _wrong(f"{key}.port", f"{port} is the port of {claimed[port]} too")
        else:
            claimed[port] = name


def port_fault(port: object) -> str | None:
    """Why a value is no port; None where it is one."""
    good = isinstance(port, int) and not isinstance(port, bool) and 1 <= port <= HIGHEST
    return None if good else f"is a whole number from 1 to {HIGHEST}, not {port!r}"


def _number(tree: Mapping[str, Any], key: str, otherwise: int) -> int:
    given = tree.get(key)
    return given if isinstance(given, int) else otherwise


def _wrong(key: str, message: str, hint: str = "") -> ConfigProblem:
    return ConfigProblem(kind="server", key=key, message=message, hint=hint)
