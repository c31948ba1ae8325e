"""A policy of known habits as a model: named in the config, written in code, and never taken for a real model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blade.core.errors import RequestError
from blade.gym.model import Model

PREFIX = "scripted/"


def scripted(config: Mapping[str, Any]) -> Model:
    """The policy that `config['policy']` names, with or without `scripted/`; raises for a name that is none."""
    from blade.gym.policies import BY_NAME

    name = PREFIX + str(config.get("policy") or "").removeprefix(PREFIX)
    if name not in BY_NAME:
        known = ", ".join(sorted(one.removeprefix(PREFIX) for one in BY_NAME))
        raise RequestError(f"no scripted policy is called {config.get('policy')!r}", hint=f"known: {known}")
    return BY_NAME[name]()
