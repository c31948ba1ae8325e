"""Requests for JSON, YAML, XML, TOML, CSV or a tool call, verified by a schema."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import structured_outputs


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_output(structured_outputs, config)
