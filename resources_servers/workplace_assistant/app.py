"""An assistant in a company: tools over its records, tasks of several steps, verified by the state that is left."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.workplace.company import SEED
from blade_gym.workplace.environment import Workplace


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `seed` is that of the company where a row names none."""
    return Workplace(seed=int(config.get("seed", SEED)))
