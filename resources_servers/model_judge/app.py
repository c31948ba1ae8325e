"""Open questions, verified by a model that compares the answer with a reference."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.verifiers import model_judge


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `judge_model` is the judge."""
    return model_judge.environment(config)
