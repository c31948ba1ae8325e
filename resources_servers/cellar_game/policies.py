"""Scripted players of the game: one without a bad habit, and one that does not look for keys.

The good one looks into every room, takes keys, brings what is asked for, and returns for locked doors.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from blade_gym.answers import message
from blade_gym.models.reply import call_item, response_object
from blade_gym.models.scripted import Conversation, ScriptedPolicy, read_conversation

from .world import OPPOSITE, Move, way

_TASK = re.compile(r"Find the (.{1,40}?), bring it to the (.{1,40}?) and drop it there")


class Known(msgspec.Struct, kw_only=True):
    """What a player has seen."""

    exits: dict[str, dict[str, str | None]] = msgspec.field(default_factory=dict)
    """By room, where a direction leads, as far as it is known."""
    refused: set[tuple[str, str]] = msgspec.field(default_factory=set)
    """Ways that were locked when they were tried, and that no key has been found for since."""
    room: str | None = None
    items: list[str] = msgspec.field(default_factory=list)
    carried: list[str] = msgspec.field(default_factory=list)

    @classmethod
    def of(cls, talk: Conversation) -> Known:
        """What the tools have shown so far."""
        known = cls()
        for one in talk.exchanges:
            if one.failed:
                if one.tool == "go" and known.room:
                    known.refused.add((known.room, str(one.arguments.get("direction"))))
            elif isinstance(one.output, dict):
                known.see(one.tool, one.arguments, one.output)
        return known

    def see(self, tool: str, arguments: Mapping[str, Any], view: Mapping[str, Any]) -> None:
        """Take in what a move showed."""
        before, self.room = self.room, str(view["room"])
        known = self.exits.setdefault(self.room, {})
        for direction in view["exits"]:
            known.setdefault(direction, None)
        if tool == "go" and before:
            direction = str(arguments["direction"])
            self.exits[before][direction] = self.room
            known[OPPOSITE[direction]] = before
        self.items, self.carried = list(view["items"]), list(view["carried"])
        if tool == "take" and "key" in str(arguments.get("item")):
            self.refused.clear()

    @property
    def sure(self) -> dict[str, dict[str, str]]:
        """The ways whose ends are known."""
        return {
            room: {direction: beyond for direction, beyond in ways.items() if beyond}
            for room, ways in self.exits.items()
        }


class Explores:
    """A scripted model without a bad habit. The order in which it tries doors is its seed's."""

    name: ClassVar[str] = "scripted/explores"
    acts_by: ClassVar[str] = "go"
    """A tool of the environment that it knows."""

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The next move."""
        talk = read_conversation(params)
        known = Known.of(talk)
        move = self.next_move(talk, known, random.Random(f"{talk.asked} {seed or 0}"))
        number = len(talk.exchanges)
        said = [message("It is done.")] if move is None else []
        calls = [call_item(move[0], json.dumps(move[1]), f"call_{number}")] if move else []
        return response_object(id=f"resp_{number}", model=self.name, output=[*said, *calls], params=params)

    async def close(self) -> None:
        """Nothing to let go of."""

    def next_move(self, talk: Conversation, known: Known, draw: random.Random) -> Move | None:
        """What to do next; None ends the game."""
        task = _TASK.search(talk.asked)
        if task is None or talk.of("drop"):
            return None
        item, goal = task.groups()
        if known.room is None:
            return "look", {}
        wanted = [one for one in known.items if one == item or "key" in one]
        if wanted:
            return "take", {"item": wanted[0]}
        if item in known.carried and known.room == goal:
            return "drop", {"item": item}
        if item in known.carried and goal in known.exits:
            return self.toward(known, goal)
        return self.explore(known, draw)

    def toward(self, known: Known, goal: str) -> Move | None:
        """A step on the known way."""
        steps = way(known.sure, str(known.room), goal)
        return ("go", {"direction": steps[0]}) if steps else None

    def explore(self, known: Known, draw: random.Random) -> Move | None:
        """Through the nearest door whose other side is not known; None where all are."""
        open_ends = sorted(
            (len(way(known.sure, str(known.room), room) or []), room, direction)
            for room, ways in known.exits.items()
            for direction, beyond in ways.items()
            if beyond is None and (room, direction) not in known.refused
        )
        if not open_ends:
            return None
        nearest = [end for end in open_ends if end[0] == open_ends[0][0]]
        _, room, direction = draw.choice(nearest)
        return ("go", {"direction": direction}) if room == known.room else self.toward(known, room)


class TriesTheLockedDoorAgain(Explores):
    """Tries a locked door again and again, instead of a search for its key.

    It plays well until a door is locked; what it does depends on which door its seed tries first.
    """

    name: ClassVar[str] = "scripted/tries_the_locked_door_again"

    def next_move(self, talk: Conversation, known: Known, draw: random.Random) -> Move | None:
        """The refused move once more."""
        last = talk.exchanges[-1] if talk.exchanges else None
        if last is not None and last.failed and last.tool == "go":
            return "go", {"direction": str(last.arguments["direction"])}
        return super().next_move(talk, known, draw)


POLICIES: tuple[type[ScriptedPolicy], ...] = (Explores, TriesTheLockedDoorAgain)
