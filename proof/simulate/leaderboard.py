"""Several models of unequal strength on the same tasks, some of them broken: for the health of a benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

from blade.model.finding import Cause
from proof.simulate.catalogue import plants, worlds
from proof.simulate.draft import Draft, Task
from proof.simulate.generate import Made, Rolled, Wanted, assembled
from proof.simulate.mechanism import Mechanism, World
from proof.simulate.plan import Part, Played, played

MODELS = {"dunlin-2b": 0.1, "knot-8b": 0.35, "godwit-30b": 0.55, "whimbrel-90b": 0.75, "curlew-400b": 0.9}
"""Each with its strength; a task of that difficulty it passes half of the time."""
STEEP = 9.0
"""How fast passing falls with difficulty."""
HARDEST = 1.25
"""Difficulties go up to this: the hardest tasks are passed by no model."""
BROKEN = 0.12
"""Share of broken tasks; audits of public benchmarks report a few to 20 %."""
CUT = 0.35
"""Share of failures at hard tasks that run into a limit."""
LIMITS = ("time-limit", "step-limit", "token-limit", "context-overflow")


@dataclass(kw_only=True)
class Staffed:
    """A world with other models."""

    name: str
    models: tuple[str, ...]
    world: World

    def task(self, index: int, rng: Random) -> Task:
        """As in the world."""
        return self.world.task(index, rng)

    def solve(self, task: Any, rng: Random) -> Draft:
        """As in the world."""
        return self.world.solve(task, rng)

    def slip(self, task: Any, rng: Random, variant: int) -> Draft:
        """As in the world."""
        return self.world.slip(task, rng, variant)

    def request(self, task: Any) -> dict[str, Any]:
        """As in the world."""
        return self.world.request(task)


def leaderboard(wanted: Wanted) -> tuple[Made, ...]:
    """Each wanted world with five models; the broken tasks are broken for all of them."""
    return tuple(_board(world, wanted) for world in worlds(wanted.world))


def _board(world: World, wanted: Wanted) -> Made:
    rng = Random(f"{wanted.seed}/{world.name}/board")
    staffed = Staffed(name=world.name, world=world, models=tuple(MODELS))
    all_plants = plants(world, ())
    defects = [one for one in all_plants if one.cause in (Cause.TASK, Cause.DATA) and not one.twin and not one.one_run]
    limits = [one for one in all_plants if one.mode in LIMITS and one.kind == "fault" and one.play is not None]
    parts = [_part(world, index, defects, rng) for index in range(wanted.tasks)]
    rolled: dict[str, Rolled] = {}
    for number, (model, strength) in enumerate(MODELS.items()):
        rolled[model] = [
            (
                part,
                list(played(world, part, number, wanted.repeats, wanted.seed))
                if part.mechanism is not None
                else _tried(
                    world,
                    part,
                    difficulty,
                    strength,
                    limits,
                    wanted,
                    Random(f"{wanted.seed}/{model}/{part.task.task_id}"),
                ),
            )
            for part, difficulty in parts
        ]
    return assembled(staffed, rolled, wanted)


def _part(world: World, index: int, defects: list[Mechanism], rng: Random) -> tuple[Part, float]:
    task = world.task(index, rng)
    difficulty = rng.uniform(0.0, HARDEST)
    if rng.random() >= BROKEN:
        return Part(task=task, mechanism=None, level="sometimes"), difficulty
    one = rng.choice(defects)
    return Part(task=one.bend(task, rng) if one.bend else task, mechanism=one, level="easy"), difficulty


def _tried(
    world: World, part: Part, difficulty: float, strength: float, limits: list[Mechanism], wanted: Wanted, rng: Random
) -> list[Played]:
    chance = 1.0 / (1.0 + math.exp(STEEP * (difficulty - strength)))
    cut = CUT if difficulty > strength else 0.0
    return [
        Played(repeat=repeat, draft=_try(world, part.task, chance, cut, limits, rng), hit=False)
        for repeat in range(wanted.repeats)
    ]


def _try(world: World, task: Task, chance: float, cut: float, limits: list[Mechanism], rng: Random) -> Draft:
    if rng.random() < chance:
        return world.solve(task, rng)
    if limits and rng.random() < cut:
        one = rng.choice(limits)
        if one.play is not None:
            draft = one.play(task, rng)
            draft.mode = one.mode
            return draft
    return world.slip(task, rng, rng.randrange(12))
