"""Grids whose rule is to be found from examples."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from blade_gym import single_turn
from blade_gym.answers import output_text
from blade_gym.environment import Environment
from blade_gym.verifiers import arc_grid


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(arc_grid, config, partial(output_text, between="\n"))
