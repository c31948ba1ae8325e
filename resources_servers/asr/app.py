"""Transcripts, verified by the rate of wrong words."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import word_error_rate


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(word_error_rate, config)
