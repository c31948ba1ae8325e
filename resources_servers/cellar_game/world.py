"""The rooms of a game and what can be done in them; a game in play changes, its plan does not."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blade_gym.environment import ToolError

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

Move = tuple[str, dict[str, str]]
"""A tool and its arguments."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a row says of its game."""

    exits: Mapping[str, Mapping[str, str]]
    """By room, where each direction leads."""
    items: Mapping[str, str]
    """By thing, the room that it lies in."""
    start: str
    goal_item: str
    goal_room: str
    door: tuple[str, str] | None = None
    """Two rooms with a locked door between them."""
    key: str | None = None

    @classmethod
    def of(cls, game: Mapping[str, Any]) -> Plan:
        """The plan in a row's `game`."""
        door = game.get("door")
        return cls(**{**game, "door": tuple(door) if door else None})


class Game(msgspec.Struct, kw_only=True):
    """A game in play."""

    plan: Plan
    room: str = ""
    lying: dict[str, str] = msgspec.field(default_factory=dict)
    carried: list[str] = msgspec.field(default_factory=list)
    seen: set[str] = msgspec.field(default_factory=set)
    moves: int = 0

    def __post_init__(self) -> None:
        self.room = self.plan.start
        self.lying = dict(self.plan.items)
        self.seen.add(self.room)

    @property
    def won(self) -> bool:
        """Whether the thing lies where it should."""
        return self.lying.get(self.plan.goal_item) == self.plan.goal_room

    @property
    def view(self) -> dict[str, Any]:
        """What the player sees."""
        here = sorted(item for item, room in self.lying.items() if room == self.room)
        return {"room": self.room, "exits": sorted(self.plan.exits[self.room]), "items": here, "carried": self.carried}

    def look(self) -> dict[str, Any]:
        """The room again."""
        return self.view

    def go(self, direction: str) -> dict[str, Any]:
        """The next room; raises where there is no way."""
        beyond = self.plan.exits[self.room].get(direction)
        if beyond is None:
            raise ToolError(f"Error: there is no way {direction[:40]} from the {self.room}.")
        if self.plan.door and {self.room, beyond} == set(self.plan.door) and self.plan.key not in self.carried:
            raise ToolError(f"Error: the door {direction} is locked, and you do not carry its key.")
        self.room = beyond
        self.seen.add(beyond)
        self.moves += 1
        return self.view

    def take(self, item: str) -> dict[str, Any]:
        """The room without the thing; raises where it does not lie there."""
        if self.lying.get(item) != self.room:
            raise ToolError(f"Error: there is no {item[:40]} in the {self.room}.")
        del self.lying[item]
        self.carried.append(item)
        return self.view

    def drop(self, item: str) -> dict[str, Any]:
        """The room with the thing; raises where it is not carried."""
        if item not in self.carried:
            raise ToolError(f"Error: you do not carry a {item[:40]}.")
        self.carried.remove(item)
        self.lying[item] = self.room
        return self.view


def way(exits: Mapping[str, Mapping[str, str]], start: str, end: str, shut: Sequence[str] = ()) -> list[str] | None:
    """Directions from a room to another, not through the door between the rooms of `shut`; None where there is no way."""
    came: dict[str, tuple[str, str]] = {}
    left = deque([start])
    while left:
        room = left.popleft()
        for direction in sorted(exits.get(room, {})):
            beyond = exits[room][direction]
            if beyond != start and beyond not in came and {room, beyond} != set(shut):
                came[beyond] = (room, direction)
                left.append(beyond)
    if end != start and end not in came:
        return None
    steps: list[str] = []
    while end != start:
        end, direction = came[end]
        steps.append(direction)
    return steps[::-1]


def solution(plan: Plan) -> list[Move]:
    """Moves that win: for the key first, where there is one."""
    moves: list[Move] = []
    room, shut = plan.start, plan.door or ()
    for item in [*([plan.key] if plan.key else []), plan.goal_item]:
        moves += [("go", {"direction": step}) for step in way(plan.exits, room, plan.items[item], shut) or []]
        moves.append(("take", {"item": item}))
        room, shut = plan.items[item], ()
    moves += [("go", {"direction": step}) for step in way(plan.exits, room, plan.goal_room) or []]
    return [*moves, ("drop", {"item": plan.goal_item})]
