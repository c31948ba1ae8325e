"""Everything that a config serves, made once: environments, models and agents, by the names of their instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.agents.simple_agent import RolloutLimits
from blade_gym.config.load import Resolved
from blade_gym.config.roots import find
from blade_gym.config.servers import AGENTS, MODELS, POLICY, RESOURCES, Instance, references
from blade_gym.environment import Environment, refuse_unready
from blade_gym.models.make import make_model
from blade_gym.models.model import Model
from blade_gym.models.scripted import SCRIPTED, refuse_unfit
from blade_gym.serve.contract import environment_of

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from blade_gym.serve.web import Aggregate

AGENT_TYPES = ("simple_agent",)


class ServedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent with what it works on and with."""

    name: str
    environment: Environment
    model: Model
    limits: RolloutLimits
    verify: bool = True


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """The parts by name of instance."""

    environments: Mapping[str, Environment]
    models: Mapping[str, Model]
    agents: Mapping[str, ServedAgent]

    def apps(self, aggregate: Aggregate | None = None) -> dict[str, Starlette]:
        """A web application for each instance; those of resources servers and agents sum rows up where `aggregate` can."""
        from blade_gym.serve.agent import agent_app
        from blade_gym.serve.model import model_app
        from blade_gym.serve.resources import resources_app

        return {
            **{name: resources_app(name, one, aggregate) for name, one in self.environments.items()},
            **{name: model_app(name, one) for name, one in self.models.items()},
            **{name: agent_app(one, aggregate) for name, one in self.agents.items()},
        }

    async def close(self) -> None:
        """Let go of what the models hold."""
        for model in self.models.values():
            await model.close()


def assemble(resolved: Resolved, agents: Iterable[str] | None = None) -> Fleet:
    """The parts that these agents need; all of the config where none is named. Raises for what cannot be made."""
    wanted = list(resolved.instances) if agents is None else _needed(resolved, agents)
    models = {one.name: make_model(one, resolved.roots) for one in wanted if one.group == MODELS}
    environments = {one.name: load_environment(one, resolved.roots, models) for one in wanted if one.group == RESOURCES}
    verify = not skips_verification(resolved.config)
    if verify:
        refuse_unready(environments.values())
    made = {one.name: _agent(one, environments, models, verify) for one in wanted if one.group == AGENTS}
    if agents is not None:
        _fitting(wanted, environments, resolved.roots)
    return Fleet(environments=environments, models=models, agents=made)


def _fitting(wanted: Iterable[Instance], environments: Mapping[str, Environment], roots: Sequence[Path]) -> None:
    """Raise where an agent has a scripted policy that knows no tool of its environment."""
    scripts = {one.name: one for one in wanted if one.group == MODELS and one.type == SCRIPTED}
    for one in wanted:
        resources, model = _references(one)
        if one.group == AGENTS and model in scripts:
            refuse_unfit(scripts[model].config, roots, resources, environments[resources].tools)


def _needed(resolved: Resolved, agents: Iterable[str]) -> list[Instance]:
    """The agents and everything that they refer to, by however many steps."""
    waiting, names = list(agents), dict[str, None]()
    for name in waiting:
        agent = resolved.instance(name)
        if agent is None or agent.group != AGENTS:
            known = ", ".join(one.name for one in resolved.agents) or "none"
            raise RequestError(f"no agent is called {name}", hint=f"the config has: {known}")
    while waiting:
        name = waiting.pop(0)
        one = resolved.instance(name)
        if one is None or name in names:
            continue
        names[name] = None
        waiting += [other for _, _, other in references(one.config, one.key)]
        waiting += _references(one) if one.group == AGENTS else ()
    return [one for one in resolved.instances if one.name in names]


def _references(agent: Instance) -> tuple[str, str]:
    return _reference(agent, "resources_server", ""), _reference(agent, "model_server", POLICY)


def _reference(agent: Instance, key: str, otherwise: str) -> str:
    given = agent.config.get(key)
    return str(given.get("name") or otherwise) if isinstance(given, Mapping) else otherwise


def skips_verification(config: Mapping[str, Any]) -> bool:
    """Whether rollouts are to be made and not judged; raises for a value that says neither."""
    given = config.get("skip_verification")
    if not isinstance(given, bool | None):
        raise RequestError(f"skip_verification is true or false, not {given!r}", hint="+skip_verification=true")
    return bool(given)


def _agent(
    one: Instance, environments: Mapping[str, Environment], models: Mapping[str, Model], verify: bool
) -> ServedAgent:
    if one.type not in AGENT_TYPES:
        raise RequestError(
            f"{one.name} is a {one.type}, which this installation cannot run",
            hint=f"agents that run here: {', '.join(AGENT_TYPES)}",
        )
    resources, model = _references(one)
    if resources not in environments:
        raise RequestError(f"the agent {one.name} has no resources server", hint="set resources_server in its config")
    if model not in models:
        raise RequestError(f"the agent {one.name} has no model", hint="give --model-type, for example local_model")
    return ServedAgent(
        name=one.name,
        environment=environments[resources],
        model=models[model],
        limits=limits_of(one.config),
        verify=verify,
    )


def limits_of(config: Mapping[str, Any]) -> RolloutLimits:
    """The limits that an agent's config sets."""
    steps, seconds = config.get("max_steps"), config.get("rollout_timeout_seconds")
    return RolloutLimits(
        max_steps=int(steps) if steps is not None else None, seconds=float(seconds) if seconds is not None else None
    )


def load_environment(one: Instance, roots: Sequence[Path], models: Mapping[str, Model] | None = None) -> Environment:
    """The environment that the instance's `app.py` makes of its config; raises where there is none.

    A reference `judge_model_server` to a model becomes the model itself under `judge_model`, and so for any name;
    `search_roots` is where the files that a config names are looked for.
    """
    name = f"{RESOURCES}/{one.type}/{one.config.get('entrypoint') or 'app.py'}"
    path = find(name, roots)
    if path is None:
        raise RequestError(f"the resources server {one.name} has no {name}", hint="--search-dir names more folders")
    config = {**one.config, **_models_of(one, models or {}), "search_roots": tuple(roots)}
    return environment_of(path, config)


def _models_of(one: Instance, models: Mapping[str, Model]) -> dict[str, Model]:
    found = {}
    for key, value in one.config.items():
        name = value.get("name") if isinstance(value, Mapping) and value.get("type") == MODELS else None
        if key.endswith("_server") and name in models:
            found[key.removesuffix("_server")] = models[str(name)]
    return found
