"""Questions for one entry of a document."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import document_lookup


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config."""
    return single_turn.of_text(document_lookup, config)
