"""Translations of segments; the reward is sentence chrF."""

from collections.abc import Mapping
from typing import Any

from blade_gym import single_turn
from blade_gym.environment import Environment
from blade_gym.verifiers import sentence_translation


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; raises RequestError where it asks for scores that cannot be had here."""
    return single_turn.of_text(sentence_translation, sentence_translation.checked(config))
