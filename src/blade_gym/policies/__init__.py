"""Scripted policies: models of known habits, for tests and demonstrations. They see the conversation and nothing else."""

from blade_gym.policies.explores import Explores
from blade_gym.policies.filters_dates_in_its_head import FiltersDatesInItsHead
from blade_gym.policies.gives_up_after_an_error import GivesUpAfterAnError
from blade_gym.policies.good import Assistant
from blade_gym.policies.never_resolves_names import NeverResolvesNames
from blade_gym.policies.tries_the_locked_door_again import TriesTheLockedDoorAgain

POLICIES: tuple[type[Assistant], ...] = (Assistant, NeverResolvesNames, FiltersDatesInItsHead, GivesUpAfterAnError)
"""Those that work in workplace_assistant."""
PLAYERS: tuple[type[Explores], ...] = (Explores, TriesTheLockedDoorAgain)
"""Those that play cellar_game."""
BY_NAME: dict[str, type[Assistant] | type[Explores]] = {
    **{policy.name: policy for policy in POLICIES},
    **{player.name: player for player in PLAYERS},
}
