"""Questions with options, verified by the letter that is chosen."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.answers import output_text
from blade_gym.environment import Environment
from blade_gym.verifiers import multiple_choice


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(multiple_choice, config, output_text)
