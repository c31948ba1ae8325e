"""Mathematical problems, verified by the equivalence of the final answer."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.verifiers import math_equivalence


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `judge_model` is the judge."""
    return math_equivalence.environment(config)
