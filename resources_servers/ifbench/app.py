"""Requests with constraints that models have not been trained on, checked with the checkers of IFBench."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import instruction_constraints


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; a reward is the share of instructions followed unless config or row say otherwise."""
    return single_turn.of_text(instruction_constraints, {"grading_mode": "fraction", **config})
