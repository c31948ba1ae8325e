"""A house to search: rooms, a locked door, a thing to bring somewhere; verified by where it lies in the end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from blade_gym.answers import message
from blade_gym.environment import Environment, Row, Session, ToolError, Verdict

from .world import Game, Plan, solution

ARGUMENT = {"look": None, "go": "direction", "take": "item", "drop": "item"}
_ABOUT = {
    "look": "Look around in the room that you are in.",
    "go": "Go through an exit: north, south, east or west.",
    "take": "Take a thing that lies in the room.",
    "drop": "Put down a thing that you carry.",
}


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    game: Game

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        return json.dumps(done(self.game, tool, arguments))

    async def verify(self, response: Row) -> Verdict:
        output = response.get("output")
        items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
        return judged(played(self.game.plan, items))


class Cellar(msgspec.Struct, frozen=True, kw_only=True):
    """The environment `cellar_game`."""

    @property
    def tools(self) -> Sequence[Row]:
        """What a player can do."""
        return tuple(_schema(name, argument) for name, argument in ARGUMENT.items())

    def open(self, row: Row) -> Session:
        """A game of its own."""
        return _Session(game=Game(plan=Plan.of(row["game"])))

    def gold(self, row: Row) -> Sequence[Row]:
        """The shortest game that wins."""
        plan = Plan.of(row["game"])
        game = Game(plan=plan)
        items: list[Row] = []
        for number, (tool, arguments) in enumerate(solution(plan)):
            call = f"call_{number}"
            items.append({"type": "function_call", "name": tool, "arguments": json.dumps(arguments), "call_id": call})
            view = json.dumps(done(game, tool, arguments))
            items.append({"type": "function_call_output", "call_id": call, "output": view})
        return (*items, message("Done."))


def _schema(name: str, argument: str | None) -> dict[str, Any]:
    properties = {argument: {"type": "string"}} if argument else {}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "name": name,
        "description": _ABOUT[name],
        "parameters": {**parameters, "additionalProperties": False},
        "strict": True,
    }


def done(game: Game, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the player sees after a move; raises ToolError."""
    if tool not in ARGUMENT:
        raise ToolError(f"Error: there is no tool {tool[:80]!r}.")
    argument = ARGUMENT[tool]
    if argument is None:
        return game.look()
    given = arguments.get(argument)
    if not isinstance(given, str):
        raise ToolError(f"Error: {tool} needs {argument}.")
    moves = {"go": game.go, "take": game.take, "drop": game.drop}
    return moves[tool](given)


def played(plan: Plan, output: Sequence[Row]) -> Game:
    """The game after the calls of a response; what the rules refuse changes nothing."""
    game = Game(plan=plan)
    for item in output:
        if item.get("type") == "function_call":
            with suppress(ToolError, ValueError, RecursionError):
                arguments = json.loads(str(item.get("arguments") or "{}"))
                if isinstance(arguments, dict):
                    done(game, str(item.get("name")), arguments)
    return game


def judged(game: Game) -> Verdict:
    """1 when the thing lies where it should."""
    item = game.plan.goal_item
    reason = None
    if not game.won:
        moved = game.lying.get(item) != game.plan.items[item]
        reason = "the thing was found and not brought" if moved else "the thing was never taken"
    fields = {"rooms_seen": len(game.seen), "moves": game.moves, "failure_reason": reason}
    return Verdict(reward=float(game.won), fields=fields)


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment; there is nothing to configure."""
    return Cellar()
