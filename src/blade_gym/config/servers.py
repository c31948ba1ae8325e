"""Server instances: `<name>: {<group>: {<type>: {entrypoint, ...}}}`, and the references between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blade_gym.config import dataset as datasets
from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.tree import Tree

RESOURCES, AGENTS, MODELS = "resources_servers", "responses_api_agents", "responses_api_models"
GROUPS = (RESOURCES, AGENTS, MODELS)
POLICY = "policy_model"
DOMAINS = (
    "math",
    "coding",
    "agent",
    "knowledge",
    "instruction_following",
    "long_context",
    "safety",
    "games",
    "translation",
    "e2e",
    "rlhf",
    "other",
)
RESERVED = (
    "config_paths",
    "entrypoint",
    "default_host",
    "head_server",
    "disallowed_ports",
    "python_version",
    "dry_run",
    "results_dir",
    "cache_dir",
    "port_range_low",
    "port_range_high",
    "verbose",
    "json",
    "query",
    "component_name",
    "observability_enabled",
    "model_call_capture_dir",
    "token_id_capture",
    "skip_verification",
    "skip_verification_reward",
    "hf_token",
)
LENIENT = "error_on_almost_servers"


@dataclass(frozen=True, kw_only=True)
class Instance:
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
    found: list[ConfigProblem] = []
    for name, block in tree.items():
        if isinstance(block, Mapping) and any(group in block for group in GROUPS):
            found += _malformed(name, block)
    for instance in instances(tree):
        found += _incomplete(instance)
        entries = instance.config.get("datasets") or []
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            found += datasets.problems(entry, f"{instance.key}.datasets.{index}")
    return found


def dangling(found: Sequence[Instance]) -> Iterator[ConfigProblem]:
    """References to instances that no config defines."""
    for instance in found:
        for key, group, name in references(instance.config, instance.key):
            named = [other.name for other in found if other.group == group]
            if name not in named:
                yield _dangling(key, group, name, found)


def _dangling(key: str, group: str, name: str, found: Sequence[Instance]) -> ConfigProblem:
    elsewhere = next((other.group for other in found if other.name == name), None)
    hint = suggestion(name, [other.name for other in found if other.group == group])
    if elsewhere:
        hint = f"{name} is one of {elsewhere}"
    elif group == MODELS and name == POLICY:
        hint = "--model-type NAME adds it; `gym list models` names them"
    message = f"refers to {name} of {group}, which no config defines"
    return ConfigProblem(kind="reference", key=key, message=message, hint=hint)


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


def _incomplete(instance: Instance) -> Iterator[ConfigProblem]:
    if instance.name in RESERVED:
        yield _wrong(instance.name, "is a name that settings use; give the server another")
    if not instance.config.get("entrypoint"):
        yield _wrong(instance.key, "has no entrypoint", "entrypoint: app.py")
    domain = instance.config.get("domain")
    if instance.group == RESOURCES and domain not in DOMAINS:
        said = f"no known domain: {domain}" if domain else "has no domain"
        yield _wrong(instance.key, said, suggestion(str(domain), DOMAINS) or f"one of: {', '.join(DOMAINS)}")


def _wrong(key: str, message: str, hint: str = "") -> ConfigProblem:
    return ConfigProblem(kind="server", key=key, message=message, hint=hint)
