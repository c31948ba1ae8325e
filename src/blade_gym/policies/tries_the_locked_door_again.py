"""A habit: a door that is locked is tried again and again, instead of a search for its key."""

from __future__ import annotations

import random
from typing import ClassVar

from blade_gym.cellar.world import Move
from blade_gym.policies.conversation import Conversation
from blade_gym.policies.explores import Explores, Known


class TriesTheLockedDoorAgain(Explores):
    """Plays well until a door is locked; what it does depends on which door its seed tries first."""

    name: ClassVar[str] = "scripted/tries_the_locked_door_again"

    def next_move(self, talk: Conversation, known: Known, draw: random.Random) -> Move | None:
        """The refused move once more."""
        last = talk.exchanges[-1] if talk.exchanges else None
        if last is not None and last.failed and last.tool == "go":
            return "go", {"direction": str(last.arguments["direction"])}
        return super().next_move(talk, known, draw)
