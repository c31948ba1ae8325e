"""The environments that judge the rollouts of some agents, and what a manifest says of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.config.compose import parts as parts_of
from blade_gym.config.problem import refuse
from blade_gym.config.servers import AGENTS, MODELS, RESOURCES, Instance, instances, references
from blade_gym.config.values import interpolated, overridden
from blade_gym.environment import Environment, refuse_unready
from blade_gym.model import Model
from blade_gym.models.make import make_model
from blade_gym.run import manifest as about
from blade_gym.run.verifier_code import Code, code_of, recorded
from blade_gym.serve.fleet import load_environment


def from_manifest(path: Path, words: Sequence[str] = ()) -> tuple[Instance, ...]:
    """The servers of the config that a manifest keeps, with some values changed; raises where there is none."""
    config = (about.read_manifest(path) or {}).get("config")
    if not isinstance(config, dict):
        raise RequestError(
            f"no manifest with a config beside the rollouts: {path}", hint="--resources-server or --benchmark names one"
        )
    _known(config, words)
    tree, problems = overridden(config, words)
    refuse(problems)
    tree, problems = interpolated(tree)
    refuse(problems)
    return instances(tree)


def _known(config: Mapping[str, Any], words: Sequence[str]) -> None:
    """Raise for a word about a block that the run's config has not: nothing would come of it."""
    named = [(word, parts_of(word.lstrip("+~").partition("=")[0])) for word in words]
    lost = [word for word, keys in named if keys and keys[0] not in config]
    if lost:
        servers = ", ".join(sorted(one.name for one in instances(config) if one.group == RESOURCES))
        raise RequestError(
            f"the config of the run has nothing that {', '.join(lost)} could change",
            hint=f"its resources servers: {servers or 'none'}",
        )


@dataclass(frozen=True, kw_only=True)
class Judges:
    """Environments by agent, and the models that some of them ask."""

    environments: Mapping[str, Environment]
    models: Mapping[str, Model]
    parts: tuple[Instance, ...]
    """The agents, their resources servers, and the judges that these ask."""
    code: Code

    async def close(self) -> None:
        """Let go of what the models hold."""
        for model in self.models.values():
            await model.close()

    def recorded(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest of a run, with these as what judges it."""
        resources = [one for one in self.parts if one.group == RESOURCES]
        config = copy.deepcopy(dict(known.get("config") or {}))
        for one in self.parts:
            block = about.safe_config({one.name: {one.group: {one.type: dict(one.config)}}})
            if one.group != AGENTS or one.name not in config:
                config |= block
            elif isinstance(there := config[one.name].get(AGENTS, {}).get(one.type), dict):
                there["resources_server"] = one.config.get("resources_server")
        new = {
            **known,
            "verifier": about.verifier_names(resources),
            "verifier_settings": about.verifier_settings(resources),
            "verifier_code": recorded(self.code),
            "judge": about.about_judge(self.parts, resources),
            "config": config,
        }
        return {**new, "config_sha256": about.fingerprint(new)}


def judges_of(
    parts: Sequence[Instance], roots: Sequence[Path], agents: Sequence[str], *, with_models: bool = False
) -> Judges:
    """The environment of each agent; raises for an agent that the config does not know.

    Models are made only where that is asked for: a config that a manifest keeps has no keys for them.
    """
    by_name = {one.name: one for one in parts}
    resources = {name: _resources(name, by_name) for name in agents}
    asked = {
        name for one in resources.values() for _, group, name in references(one.config, one.key) if group == MODELS
    }
    if asked and not with_models:
        raise RequestError(
            "the verifier asks a judge, and none is given",
            hint="name the config and the judge: --benchmark NAME --judge-model NAME --judge-url URL",
        )
    models = {name: make_model(by_name[name], roots) for name in sorted(asked)}
    made = {name: load_environment(one, roots, models) for name, one in resources.items()}
    refuse_unready(made.values())
    used = {**{name: by_name[name] for name in (*agents, *sorted(asked))}, **{r.name: r for r in resources.values()}}
    code = code_of(list(resources.values()), roots)
    return Judges(environments=made, models=models, parts=tuple(used.values()), code=code)


def _resources(agent: str, by_name: Mapping[str, Instance]) -> Instance:
    named = by_name[agent].config.get("resources_server") if agent in by_name else None
    found = by_name.get(str(named.get("name"))) if isinstance(named, Mapping) else None
    if found is None or found.group != RESOURCES:
        raise RequestError(
            f"the config has no resources server for the agent {agent}",
            hint=f"it has: {', '.join(sorted(by_name)) or 'nothing'}",
        )
    return found
