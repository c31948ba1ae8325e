"""A policy of known habits as a model: named in the config, written in code, and never taken for a real model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from blade.model.errors import RequestError
from blade_gym.environment import Row
from blade_gym.models.model import Model

if TYPE_CHECKING:
    from blade_gym.policies.explores import Explores
    from blade_gym.policies.good import Assistant

PREFIX = "scripted/"
SCRIPTED = "scripted_model"


def scripted(config: Mapping[str, Any]) -> Model:
    """The policy that `config['policy']` names, with or without `scripted/`; raises for a name that is none."""
    return _policy(config)()


def refuse_unfit(config: Mapping[str, Any], where: str, tools: Iterable[Row]) -> None:
    """Raise where a policy is put into an environment that has none of the tools that it acts by."""
    from blade_gym.policies import BY_NAME

    there = {str(tool.get("name")) for tool in tools}
    policy = _policy(config)
    if policy.acts_by not in there:
        fitting = [name.removeprefix(PREFIX) for name, one in BY_NAME.items() if one.acts_by in there]
        raise RequestError(
            f"the policy {policy.name} acts by the tool {policy.acts_by}, which {where} does not have",
            hint=f"policies for {where}: {', '.join(fitting)}" if fitting else "no scripted policy acts in it",
        )


def _policy(config: Mapping[str, Any]) -> type[Assistant] | type[Explores]:
    from blade_gym.policies import BY_NAME

    name = PREFIX + str(config.get("policy") or "").removeprefix(PREFIX)
    if name not in BY_NAME:
        known = ", ".join(sorted(one.removeprefix(PREFIX) for one in BY_NAME))
        raise RequestError(f"no scripted policy is called {config.get('policy')!r}", hint=f"known: {known}")
    return BY_NAME[name]
