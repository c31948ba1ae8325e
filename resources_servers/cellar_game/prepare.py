"""Houses to search, generated from a seed: every other one has a locked door."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blade_gym import hub, puzzles

from .world import OPPOSITE, way

ROOMS = ("hall", "kitchen", "pantry", "cellar", "attic", "library", "workshop", "stable", "garden", "tower")
THINGS = ("lantern", "silver cup", "old map", "blue vase", "violin", "globe")
KEY = "iron key"
STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
SYSTEM = "You play a text game with the tools that you have. When the task is done, say so without another call."


def prepare(size: int = 48, seed: int = 7, output: str | None = None) -> Path:
    """Write `size` games."""
    return hub.write(rows(size, seed), output or hub.beside(__file__, "cellar_game"))


def rows(size: int, seed: int, smallest: int = 5, largest: int = 7) -> Iterator[dict[str, Any]]:
    """Games of so many rooms, no two told alike; the same for the same seed."""
    draw = random.Random(f"cellar {seed}")
    told: set[str] = set()
    for number in puzzles.draws(told, size):
        rooms = draw.randint(smallest, largest)
        game = _game(draw, rooms, locked=number % 2 == 1)
        said = (
            f"You are in the {game['start']}. Find the {game['goal_item']}, bring it to the {game['goal_room']} "
            "and drop it there."
        )
        if said in told:
            continue
        told.add(said)
        yield {
            "id": f"cellar-{number:03d}",
            "responses_create_params": {
                "input": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": said}],
                "parallel_tool_calls": False,
            },
            "rooms": rooms,
            "locked_door": game["door"] is not None,
            "game": game,
        }


def _game(draw: random.Random, rooms: int, *, locked: bool) -> dict[str, Any]:
    exits = _house(draw, rooms)
    start = draw.choice(sorted(exits))
    far = max(sorted(exits), key=lambda room: len(way(exits, start, room) or []))
    others = [room for room in sorted(exits) if room not in (start, far)]
    thing = draw.choice(THINGS)
    game = {"exits": exits, "items": {thing: far}, "start": start, "goal_item": thing, "goal_room": start}
    if not locked:
        return {**game, "goal_room": draw.choice([start, *others]), "door": None, "key": None}
    last = (way(exits, start, far) or [])[-1]
    door = sorted((far, exits[far][OPPOSITE[last]]))
    place = draw.choice([room for room in others if way(exits, start, room, door) is not None] or [start])
    return {**game, "items": {thing: far, KEY: place}, "door": door, "key": KEY}


def _house(draw: random.Random, rooms: int) -> dict[str, dict[str, str]]:
    """Rooms on a grid, each but the first joined to one that was there."""
    names = draw.sample(ROOMS, rooms)
    places = {(0, 0): names[0]}
    exits: dict[str, dict[str, str]] = {names[0]: {}}
    for name in names[1:]:
        free = [
            (x, y, direction)
            for x, y in places
            for direction, (dx, dy) in STEPS.items()
            if (x + dx, y + dy) not in places
        ]
        x, y, direction = draw.choice(free)
        joined = places[(x, y)]
        places[(x + STEPS[direction][0], y + STEPS[direction][1])] = name
        exits[joined][direction] = name
        exits[name] = {OPPOSITE[direction]: joined}
    return exits
