"""Requests that look unsafe and those that are: a judge says whether the answer refuses."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.verifiers import refusal_judge


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `judge_model` is the judge."""
    return refusal_judge.environment(config)
