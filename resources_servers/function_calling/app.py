"""Requests that one or several calls of the given tools answer."""

from collections.abc import Mapping
from typing import Any

from blade.gym import single_turn
from blade.gym.environment import Environment
from blade.gym.verifiers import function_calls


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_output(function_calls, config)
