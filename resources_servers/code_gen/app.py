"""Programs, verified by running their tests."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.verifiers import unit_tests


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return unit_tests.environment(config)
