"""From names of configs and words of the command line to one resolved config.

Later wins: config files, then `env.yaml` of the current folder (or of BLADE's own), then the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blade_gym.config import numbers, ports, servers, yaml_file
from blade_gym.config.chain import KEY, Chain
from blade_gym.config.dataset import Dataset, absent, dataset
from blade_gym.config.inherit import inherited
from blade_gym.config.interpolate import SECRET, interpolated
from blade_gym.config.overrides import overridden
from blade_gym.config.problem import ConfigProblem, refuse
from blade_gym.config.roots import search_roots, shipped
from blade_gym.config.servers import AGENTS, LENIENT, MODELS, POLICY, RESOURCES, Instance
from blade_gym.config.tree import Tree, assigned, merged, parts
from blade_gym.config.unread import unread

ENV = "env.yaml"


@dataclass(frozen=True, kw_only=True)
class Resolved:
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
    origins: Mapping[str, str] = field(default_factory=dict)
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
        return tuple(one for one in self.instances if one.group == AGENTS)

    def instance(self, name: str) -> Instance | None:
        """The instance of that name."""
        return next((one for one in self.instances if one.name == name), None)

    def resources_server(self, agent: str) -> Instance | None:
        """The environment that an agent works in."""
        found = self.instance(agent)
        named = found.config.get("resources_server") if found else None
        name = named.get("name") if isinstance(named, Mapping) else None
        return next((one for one in self.instances if one.group == RESOURCES and one.name == name), None)


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
    where = tuple(search_roots() if roots is None else roots)
    made = _composed(config_paths, overrides, where)
    tree, problems = interpolated(made.tree)
    wrong, notices = _servers(tree)
    found = servers.instances(tree)
    problems = [
        *made.problems,
        *_repeated(made.sources),
        *problems,
        *wrong,
        *ports.problems(tree, found),
        *numbers.problems(found),
        *servers.dangling(found),
    ]
    tree, given_ports = ports.placed(tree, found), ports.given(found)
    found = servers.instances(tree)
    resolved = Resolved(
        config=tree,
        instances=found,
        datasets=_datasets(found),
        sources=made.sources,
        roots=where,
        notices=(*made.notices, *notices),
        origins=made.origins,
        given_ports=given_ports,
    )
    return resolved, tuple(_located(problem, made.sources, made.origins) for problem in problems)


def absent_files(resolved: Resolved) -> tuple[ConfigProblem, ...]:
    """Scripts and prompts that data sets name and that no root has; a config can be used for other things without them."""
    found = (
        problem
        for one in resolved.agents
        for index, rows in enumerate(_datasets([one]))
        for problem in absent(rows, f"{one.key}.datasets.{index}", resolved.roots)
    )
    return tuple(_located(problem, resolved.sources, resolved.origins) for problem in found)


def outline(config_paths: Sequence[str], roots: Sequence[Path]) -> tuple[Resolved, tuple[ConfigProblem, ...]]:
    """The same without `env.yaml`, the command line and values: enough to list what is there, and quick."""
    chain = Chain(roots=roots)
    tree, _, problems = inherited(chain.load(config_paths))
    found = servers.instances(tree)
    resolved = Resolved(
        config=tree,
        instances=found,
        datasets=_datasets(found),
        sources=tuple(chain.sources),
        roots=tuple(roots),
        notices=tuple(chain.notices),
    )
    return resolved, (*chain.problems, *problems)


@dataclass(frozen=True, kw_only=True)
class _Composed:
    tree: Tree
    sources: tuple[Path, ...]
    origins: Mapping[str, str]
    problems: tuple[ConfigProblem, ...]
    notices: tuple[str, ...]


def _composed(config_paths: Sequence[str], overrides: Sequence[str], roots: Sequence[Path]) -> _Composed:
    chain = Chain(roots=roots)
    local = _environment(chain)
    given, wrong = overridden({}, [word for word in overrides if word.lstrip("+").startswith(f"{KEY}=")])
    names = [*config_paths, *_listed(given)] or _listed(local)
    tree = merged(chain.load(names), {key: value for key, value in local.items() if key != KEY})
    words = [word for word in overrides if not word.lstrip("+").startswith(f"{KEY}=")]
    before = list(tree)
    tree, unknown = overridden(tree, words)
    tree, origins, lost = inherited(tree)
    idle, useless = unread(words, before, tree)
    tree = _keyless(tree)
    return _Composed(
        tree=tree,
        sources=tuple(chain.sources),
        origins=origins,
        problems=(*chain.problems, *wrong, *unknown, *lost, *useless),
        notices=(*chain.notices, *idle),
    )


def _environment(chain: Chain) -> Tree:
    """`env.yaml`: values of a person or a machine, keys among them."""
    path = next((path for folder in (Path.cwd(), shipped()) if (path := folder / ENV).is_file()), None)
    if path is None:
        return {}
    chain.sources.append(path)
    try:
        return yaml_file.read(path)
    except yaml_file.Unreadable as error:
        chain.problems.append(ConfigProblem(kind="file", message=str(error), file=path, line=error.line))
        return {}


def _keyless(tree: Tree) -> Tree:
    """An endpoint at an http address needs no key: nobody sends one in clear. No header is sent then.

    The same holds for another model, such as a judge, that would take the evaluated model's key.
    """
    if SECRET in tree:
        return tree
    if _plain(tree.get("policy_base_url")):
        return {**tree, SECRET: ""}
    for one in servers.instances(tree):
        shared = {key: "" for key, value in one.config.items() if value == f"${{{SECRET}}}"}
        if one.group == MODELS and shared and _plain(one.config.get("openai_base_url") or one.config.get("base_url")):
            tree = assigned(tree, (one.name, one.group, one.type), {**one.config, **shared})
    return tree


def _plain(address: object) -> bool:
    return str(address).lower().startswith("http://")


def _listed(tree: Tree) -> list[str]:
    value = tree.get(KEY) or []
    return [str(name) for name in value] if isinstance(value, list) else [str(value)]


def _repeated(sources: Iterable[Path]) -> list[ConfigProblem]:
    return [
        ConfigProblem(kind="file", key=key, message="is given twice", file=path, line=line)
        for path in sources
        for key, line in yaml_file.repeated(path)
    ]


def _servers(tree: Tree) -> tuple[list[ConfigProblem], list[str]]:
    """Problems of servers; notices instead where the config says so."""
    found = servers.problems(tree)
    lenient = tree.get(LENIENT) is False
    return ([], [problem.text for problem in found]) if lenient else (found, [])


def _datasets(found: Iterable[Instance]) -> tuple[Dataset, ...]:
    return tuple(
        dataset(entry, instance.name)
        for instance in found
        if isinstance(instance.config.get("datasets"), list)
        for entry in instance.config["datasets"]
        if isinstance(entry, Mapping)
    )


def _located(problem: ConfigProblem, sources: Iterable[Path], origins: Mapping[str, str]) -> ConfigProblem:
    """The problem with the file and line that its key stands in: of the file that wins, and of what it inherits from."""
    if problem.file or not problem.key:
        return problem
    best: tuple[int, Path, int] | None = None
    for key in _spellings(problem.key, origins):
        for path in sources:
            depth, line = yaml_file.line_of(path, parts(key))
            if depth == len(parts(key)):
                return replace(problem, file=path, line=line)
            if depth and (best is None or depth > best[0]):
                best = (depth, path, line)
    return replace(problem, file=best[1], line=best[2]) if best else problem


def _spellings(key: str, origins: Mapping[str, str]) -> list[str]:
    """The key, and the same key below each block that it was inherited from."""
    found = [key]
    for target, source in origins.items():
        if key.startswith(f"{target}."):
            found.append(source + key.removeprefix(target))
    return found
