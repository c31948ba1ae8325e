"""Scripted policies: models of known habits, for tests and demonstrations. They see the conversation and nothing else."""

from blade.gym.policies.filters_dates_in_its_head import FiltersDatesInItsHead
from blade.gym.policies.gives_up_after_an_error import GivesUpAfterAnError
from blade.gym.policies.good import Assistant
from blade.gym.policies.never_resolves_names import NeverResolvesNames

POLICIES: tuple[type[Assistant], ...] = (Assistant, NeverResolvesNames, FiltersDatesInItsHead, GivesUpAfterAnError)
BY_NAME = {policy.name: policy for policy in POLICIES}
