"""Short answers, compared with the expected one by a judge that a prompt of the benchmark instructs."""

from collections.abc import Mapping
from typing import Any

from blade_gym.environment import Environment
from blade_gym.verifiers import equivalence_judge


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `judge_model` is the judge."""
    return equivalence_judge.environment(config)
