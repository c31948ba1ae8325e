"""Requests with constraints on the form of the reply, each checked."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import instruction_constraints


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(instruction_constraints, config)
