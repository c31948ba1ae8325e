"""Requests that expected calls of the given tools answer, in the row format of xLAM."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import expected_calls


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_output(expected_calls, config)
