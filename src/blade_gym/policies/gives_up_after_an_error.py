"""A habit: the first error of a tool ends the work, though the error says what to change."""

from __future__ import annotations

from typing import ClassVar

from blade_gym.policies.conversation import Call, Exchange
from blade_gym.policies.good import Assistant


class GivesUpAfterAnError(Assistant):
    """Passes where no error comes."""

    name: ClassVar[str] = "scripted/gives_up_after_an_error"

    def after_error(self, error: Exchange, mended: Call) -> tuple[str, list[Call]]:
        """Report it and stop."""
        return f"I'm sorry, I was unable to do this: the search failed with an error ({error.text}).", []
