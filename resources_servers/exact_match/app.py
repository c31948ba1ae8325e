"""Questions whose answer is one short text."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import exact_match


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(exact_match, config)
