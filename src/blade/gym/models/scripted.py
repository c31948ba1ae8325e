"""A policy of known habits as a model: named in the config, written in code, and never taken for a real model."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from blade.core.errors import RequestError
from blade.gym.model import Model


def scripted(config: Mapping[str, Any]) -> Model:
    """The policy `config['policy']` of `blade.gym.policies`; raises for a name that is none."""
    name = str(config.get("policy") or "")
    if name not in policies():
        known = ", ".join(policies()) or "none is installed"
        raise RequestError(f"no scripted policy is called {name!r}", hint=f"known: {known}; set policy in the config")
    made: Model = importlib.import_module(f"blade.gym.policies.{name}").policy(config)
    return made


def policies() -> list[str]:
    """Names of the policies, in order: modules with a function `policy`."""
    try:
        package = importlib.import_module("blade.gym.policies")
    except ModuleNotFoundError:
        return []
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return [name for name in names if hasattr(importlib.import_module(f"{package.__name__}.{name}"), "policy")]
