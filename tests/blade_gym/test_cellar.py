"""The text game: its rules by hand, its keys, and players whose habits are known."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from resources_servers.cellar_game.app import Cellar, done, judged, played
from resources_servers.cellar_game.policies import Explores, TriesTheLockedDoorAgain
from resources_servers.cellar_game.prepare import KEY, rows
from resources_servers.cellar_game.world import Game, Plan, solution

from blade_gym.agents.simple_agent import RolloutLimits, run
from blade_gym.environment import ToolError

HOUSE = Plan(
    exits={
        "hall": {"north": "attic", "east": "pantry"},
        "attic": {"south": "hall"},
        "pantry": {"west": "hall", "east": "cellar"},
        "cellar": {"west": "pantry"},
    },
    items={"lantern": "cellar", KEY: "attic"},
    start="hall",
    goal_item="lantern",
    goal_room="hall",
    door=("cellar", "pantry"),
    key=KEY,
)
TASKS = list(rows(48, 7))


def test_a_door_opens_for_its_key_alone() -> None:
    game = Game(plan=HOUSE)
    done(game, "go", {"direction": "east"})
    with pytest.raises(ToolError, match="the door east is locked"):
        done(game, "go", {"direction": "east"})
    assert game.room == "pantry"
    for tool, given in [
        ("go", "west"),
        ("go", "north"),
        ("take", KEY),
        ("go", "south"),
        ("go", "east"),
        ("go", "east"),
    ]:
        seen = done(game, tool, {"direction": given, "item": given})
    assert seen == {"room": "cellar", "exits": ["west"], "items": ["lantern"], "carried": [KEY]}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("go", {"direction": "up"}, "no way up from the hall"),
        ("go", {}, "go needs direction"),
        ("take", {"item": "lantern"}, "no lantern in the hall"),
        ("drop", {"item": "lantern"}, "do not carry a lantern"),
        ("fly", {}, "no tool 'fly'"),
    ],
)
def test_what_the_rules_refuse(tool: str, arguments: dict[str, Any], message: str) -> None:
    game = Game(plan=HOUSE)
    with pytest.raises(ToolError, match=message):
        done(game, tool, arguments)
    assert game == Game(plan=HOUSE)


def test_the_solution_fetches_the_key_first() -> None:
    steps = [next(iter(arguments.values())) for _, arguments in solution(HOUSE)]
    assert steps == ["north", KEY, "south", "east", "east", "lantern", "west", "west", "lantern"]


def test_verdicts_say_how_far_it_came() -> None:
    def calls(*moves: tuple[str, str]) -> list[dict[str, str]]:
        made = [(tool, json.dumps({"direction": given, "item": given})) for tool, given in moves]
        return [{"type": "function_call", "name": tool, "arguments": arguments} for tool, arguments in made]

    gold = [(tool, next(iter(arguments.values()))) for tool, arguments in solution(HOUSE)]
    assert judged(played(HOUSE, calls(*gold))).reward == 1.0
    assert judged(played(HOUSE, calls(*gold[:-1]))).fields["failure_reason"] == "the thing was found and not brought"
    idle = judged(played(HOUSE, [{"type": "function_call", "name": "go", "arguments": "{"}]))
    assert idle.fields == {"rooms_seen": 1, "moves": 0, "failure_reason": "the thing was never taken"}


def test_games_are_the_seeds_and_every_other_has_a_locked_door() -> None:
    assert list(rows(48, 7)) == TASKS
    assert list(rows(48, 8)) != TASKS
    assert [row["locked_door"] for row in TASKS] == [False, True] * 24
    for row in TASKS:
        plan = Plan.of(row["game"])
        game = Game(plan=plan)
        for tool, arguments in solution(plan):
            done(game, tool, arguments)
        assert game.won, row["id"]


def _rewards(player: type[Explores]) -> dict[str, list[float]]:
    async def rollout(row: dict[str, Any], seed: int) -> float:
        params = {**row["responses_create_params"], "metadata": {"extra_body": json.dumps({"seed": seed})}}
        asked = {**row, "responses_create_params": params}
        found = await run(asked, model=player(), environment=Cellar(), limits=RolloutLimits(max_steps=40))
        return float(found["reward"])

    async def rewards() -> dict[str, list[float]]:
        return {row["id"]: [await rollout(row, seed) for seed in range(3)] for row in TASKS}

    return asyncio.run(rewards())


def test_the_player_that_explores_wins_every_game() -> None:
    assert {reward for rewards in _rewards(Explores).values() for reward in rewards} == {1.0}


def test_the_player_of_bad_habit_loses_at_locked_doors_only() -> None:
    rewards = _rewards(TriesTheLockedDoorAgain)
    open_ones = [rewards[row["id"]] for row in TASKS if not row["locked_door"]]
    locked = [rewards[row["id"]] for row in TASKS if row["locked_door"]]
    assert all(min(found) == 1.0 for found in open_ones)
    assert 5 <= sum(min(found) == 0.0 for found in locked) < len(locked)
