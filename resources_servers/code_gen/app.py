"""Programs, verified by running their tests."""

from collections.abc import Mapping
from typing import Any

from blade.gym import single_turn
from blade.gym.environment import Environment
from blade.gym.verifiers import unit_tests


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(unit_tests, config)
