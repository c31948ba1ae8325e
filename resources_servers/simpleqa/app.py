"""Short factual questions, graded by a judge as correct, incorrect or not attempted."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.verifiers import short_fact_judge


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `judge_model` is the judge."""
    return short_fact_judge.environment(config)
