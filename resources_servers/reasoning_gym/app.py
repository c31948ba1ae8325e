"""Generated puzzles, verified by the scorer of their family."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.answers import output_text
from blade_gym.environment import Environment
from blade_gym.verifiers import reasoning_gym


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(reasoning_gym, config, output_text)
