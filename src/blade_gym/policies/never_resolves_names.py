"""A habit: a name is never looked up. Addresses are guessed from first names, and searches go without the person."""

from __future__ import annotations

from typing import Any, ClassVar

from blade_gym.policies.conversation import Conversation
from blade_gym.policies.good import Assistant, Mood
from blade_gym.policies.plans import Addresses, Plan
from blade_gym.workplace.company import DOMAIN


class NeverResolvesNames(Assistant):
    """Reassigns the wrong records, and to nobody: it never asks the directory."""

    name: ClassVar[str] = "scripted/never_resolves_names"

    def to_look_up(self, plan: Plan, talk: Conversation) -> list[str]:
        """Nothing, ever."""
        return []

    def addresses(self, plan: Plan, talk: Conversation) -> Addresses:
        """Guesses."""
        return {name: f"{name.split()[0].lower()}@{DOMAIN}" for name in plan.people}

    def query(self, plan: Plan, known: Addresses, mood: Mood) -> dict[str, Any]:
        """Words are searched for as the user said them; a search that wants an address goes without it."""
        said = dict(zip(known.values(), known, strict=True))
        asked = super().query(plan, known, mood)
        if "query" in asked:
            for guess, name in said.items():
                asked["query"] = asked["query"].replace(guess, name)
        return {name: value for name, value in asked.items() if name != "assigned_to_email"}
