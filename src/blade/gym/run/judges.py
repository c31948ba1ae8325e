"""The environments that judge the rollouts of some agents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blade.core.errors import RequestError
from blade.gym.config.servers import MODELS, RESOURCES, Instance, instances, references
from blade.gym.environment import Environment
from blade.gym.model import Model
from blade.gym.models.make import make_model
from blade.gym.serve.fleet import load_environment


def from_manifest(path: Path) -> tuple[Instance, ...]:
    """The servers of the config that a manifest keeps; raises where there is none."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        value = None
    config = value.get("config") if isinstance(value, dict) else None
    if not isinstance(config, dict):
        raise RequestError(
            f"no manifest with a config beside the rollouts: {path}", hint="--resources-server or --benchmark names one"
        )
    return instances(config)


@dataclass(frozen=True, kw_only=True)
class Judges:
    """Environments by agent, and the models that some of them ask."""

    environments: Mapping[str, Environment]
    models: Mapping[str, Model]

    async def close(self) -> None:
        """Let go of what the models hold."""
        for model in self.models.values():
            await model.close()


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
    return Judges(environments=made, models=models)


def _resources(agent: str, by_name: Mapping[str, Instance]) -> Instance:
    named = by_name[agent].config.get("resources_server") if agent in by_name else None
    found = by_name.get(str(named.get("name"))) if isinstance(named, Mapping) else None
    if found is None or found.group != RESOURCES:
        raise RequestError(
            f"the config has no resources server for the agent {agent}",
            hint=f"it has: {', '.join(sorted(by_name)) or 'nothing'}",
        )
    return found
