"""From names of configs and words of the command line to one resolved config.

Later wins: config files, then `env.yaml` of the current folder (or of BLADE's own), then the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade_gym.config import servers, yaml_file
from blade_gym.config.compose import KEY, Chain, Tree, inherited, merged, parts
from blade_gym.config.dataset import Dataset, absent, dataset
from blade_gym.config.problem import ConfigProblem, refuse
from blade_gym.config.roots import search_roots, shipped
from blade_gym.config.servers import AGENTS, LENIENT, MODELS, POLICY, RESOURCES, Instance
from blade_gym.config.settings import unread
from blade_gym.config.values import SECRET, interpolated, overridden

ENV = "env.yaml"


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A config with everything filled in. Its values hold secrets in clear: `mask.masked` before it is shown or kept."""

    config: Mapping[str, Any]
    """The whole merged mapping: instances and settings."""
    instances: tuple[Instance, ...]
    datasets: tuple[Dataset, ...]
    """Of every agent, in the order of the config."""
    sources: tuple[Path, ...]
    """The files that were read."""
    roots: tuple[Path, ...]
    """Where files that the config names are looked for; see `roots.find` and `roots.place`."""
    notices: tuple[str, ...] = ()
    origins: Mapping[str, str] = {}
    """Which block took its values from which, by dotted key."""
    given_ports: frozenset[str] = frozenset()
    """Instances whose port the config itself gives; those of the others are proposals."""

    @property
    def model(self) -> Instance | None:
        """The model that is evaluated: the instance `policy_model`."""
        return next((one for one in self.instances if one.group == MODELS and one.name == POLICY), None)

    @property
    def agents(self) -> tuple[Instance, ...]:
        """The instances that run rollouts."""
        return tuple(instance for instance in self.instances if instance.group == AGENTS)

    def instance(self, name: str) -> Instance | None:
        """The instance of that name."""
        return next((instance for instance in self.instances if instance.name == name), None)

    def resources_server(self, agent: str) -> Instance | None:
        """The environment that an agent works in."""
        instance = self.instance(agent)
        named = instance.config.get("resources_server") if instance else None
        name = named.get("name") if isinstance(named, Mapping) else None
        return next((other for other in self.instances if other.group == RESOURCES and other.name == name), None)


def resolve(
    config_paths: Sequence[str] = (), overrides: Sequence[str] = (), roots: Sequence[Path] | None = None
) -> Resolved:
    """The config that these files and words amount to; raises one error that names every problem."""
    resolved, problems = examine(config_paths, overrides, roots)
    refuse(problems)
    return resolved


def examine(
    config_paths: Sequence[str] = (), overrides: Sequence[str] = (), roots: Sequence[Path] | None = None
) -> tuple[Resolved, tuple[ConfigProblem, ...]]:
    """The config as far as it goes, and every problem in it at once, each with its file and line where they are known."""
    roots = tuple(search_roots() if roots is None else roots)
    chain = Chain(roots=roots)
    tree, origins = _composed(chain, config_paths, overrides)
    tree, problems = interpolated(tree)
    instances = servers.instances(tree)
    wrong, notices = servers.problems(tree), []
    if tree.get(LENIENT) is False:
        wrong, notices = [], [problem.text for problem in wrong]
    repeated = [
        ConfigProblem(kind="file", key=key, message="is given twice", file=path, line=line)
        for path in chain.sources
        for key, line in yaml_file.repeated(path)
    ]
    problems = [
        *chain.problems,
        *repeated,
        *problems,
        *wrong,
        *servers.port_problems(tree, instances),
        *servers.number_problems(instances),
        *servers.dangling(instances),
    ]
    tree = servers.with_ports(tree, instances)
    resolved = Resolved(
        config=tree,
        instances=servers.instances(tree),
        datasets=_datasets(servers.instances(tree)),
        sources=tuple(chain.sources),
        roots=roots,
        notices=(*chain.notices, *notices),
        origins=origins,
        given_ports=frozenset(one.name for one in instances if one.config.get("port") is not None),
    )
    return resolved, tuple(_located(problem, chain.sources, origins) for problem in problems)


def _composed(chain: Chain, config_paths: Sequence[str], overrides: Sequence[str]) -> tuple[Tree, dict[str, str]]:
    """The files, `env.yaml` and the words as one tree, its references open; problems and notices go to the chain."""
    local: Tree = {}
    env = next((path for folder in (Path.cwd(), shipped()) if (path := folder / ENV).is_file()), None)
    if env is not None:
        local = chain.read(env)
    naming = [word for word in overrides if word.lstrip("+").startswith(f"{KEY}=")]
    words = [word for word in overrides if word not in naming]
    given, wrong = overridden({}, naming)
    named, local_names = given.get(KEY), local.pop(KEY, None)
    names = [*config_paths, *_listed(named)] or _listed(local_names)
    tree = merged(chain.load(names), local)
    before = list(tree)
    tree, unknown = overridden(tree, words)
    tree, origins, not_inherited = inherited(tree)
    idle, useless = unread(words, before, tree)
    chain.problems += [*wrong, *unknown, *not_inherited, *useless]
    chain.notices += idle
    return _without_keys_in_clear(tree), origins


def _listed(value: Any) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else [str(value)] if value else []


def _without_keys_in_clear(tree: Tree) -> Tree:
    """An endpoint at an http address needs no key: nobody sends one in clear. No header is sent then.

    The same holds for another model, such as a judge, that would take the evaluated model's key.
    """
    if SECRET in tree:
        return tree
    if _in_clear(tree.get("policy_base_url")):
        return {**tree, SECRET: ""}
    for instance in servers.instances(tree):
        shared = {key: "" for key, value in instance.config.items() if value == f"${{{SECRET}}}"}
        address = instance.config.get("openai_base_url") or instance.config.get("base_url")
        if instance.group == MODELS and shared and _in_clear(address):
            tree = instance.put(tree, **shared)
    return tree


def _in_clear(address: object) -> bool:
    return str(address).lower().startswith("http://")


def absent_files(resolved: Resolved) -> tuple[ConfigProblem, ...]:
    """Scripts and prompts that data sets name and that no root has; a config can be used for other things without them."""
    problems = (
        problem
        for agent in resolved.agents
        for index, rows in enumerate(_datasets([agent]))
        for problem in absent(rows, f"{agent.key}.datasets.{index}", resolved.roots)
    )
    return tuple(_located(problem, resolved.sources, resolved.origins) for problem in problems)


def outline(config_paths: Sequence[str], roots: Sequence[Path]) -> tuple[Resolved, tuple[ConfigProblem, ...]]:
    """The same without `env.yaml`, the command line and values: enough to list what is there, and quick."""
    chain = Chain(roots=roots)
    tree, _, problems = inherited(chain.load(config_paths))
    instances = servers.instances(tree)
    resolved = Resolved(
        config=tree,
        instances=instances,
        datasets=_datasets(instances),
        sources=tuple(chain.sources),
        roots=tuple(roots),
        notices=tuple(chain.notices),
    )
    return resolved, (*chain.problems, *problems)


def _datasets(instances: Iterable[Instance]) -> tuple[Dataset, ...]:
    return tuple(
        dataset(entry, instance.name)
        for instance in instances
        if isinstance(instance.config.get("datasets"), list)
        for entry in instance.config["datasets"]
        if isinstance(entry, Mapping)
    )


def _located(problem: ConfigProblem, sources: Iterable[Path], origins: Mapping[str, str]) -> ConfigProblem:
    """The problem with the file and line that its key stands in: of the file that wins, and of what it inherits from."""
    if problem.file or not problem.key:
        return problem
    spellings = [problem.key] + [
        source + problem.key.removeprefix(target)
        for target, source in origins.items()
        if problem.key.startswith(f"{target}.")
    ]
    best: tuple[int, Path, int] | None = None
    for key in spellings:
        for path in sources:
            depth, line = yaml_file.line_of(path, parts(key))
            if depth == len(parts(key)):
                return msgspec.structs.replace(problem, file=path, line=line)
            if depth and (best is None or depth > best[0]):
                best = (depth, path, line)
    return msgspec.structs.replace(problem, file=best[1], line=best[2]) if best else problem
