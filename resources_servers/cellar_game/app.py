"""A house to search: rooms, a locked door, a thing to bring somewhere; verified by where it lies in the end."""

from collections.abc import Mapping
from typing import Any

from blade_gym.cellar.environment import Cellar
from blade_gym.environment import Environment


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment; there is nothing to configure."""
    return Cellar()
