"""Runs in which a symptom goes with failing by a known amount, or not at all: for grades and headroom.

Symptoms are put in the middle of conversations, by chance and independent of each other; the agent goes on after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from proof.simulate.draft import Draft, Item, called
from proof.simulate.generate import Made, row_of
from proof.simulate.mechanism import World
from proof.simulate.names import names_of
from proof.simulate.plan import Part, Played
from proof.simulate.tools import Case, Tools, agreed, change, ended, finished, known, looked_up
from proof.simulate.truth import RunTruth, Truth

TASKS = 40
REPEATS = 8
SHARE = 0.35
"""Of rollouts that have a symptom."""
EFFECT = 0.6
"""Share of its chance to pass that a rollout loses by a symptom with an effect."""

Fragment = Callable[[Case, Random], list[Item]]


def _again(task: Case, rng: Random) -> list[Item]:
    look = ("get_order", {"order_id": task.order["order_id"]}, task.order)
    return [item for _ in range(4) for item in called(rng, *look)]


def _rounds(task: Case, rng: Random) -> list[Item]:
    return [item for _ in range(3) for item in looked_up(task, rng)]


def _no_such_tool(task: Case, rng: Random) -> list[Item]:
    return called(rng, "find_everything", {"order_id": task.order["order_id"]}, "Error: unknown tool find_everything")


def _unreadable(task: Case, rng: Random) -> list[Item]:
    return called(rng, "get_order", f'{{"order_id": "{task.order["order_id"]}"', "Error: arguments are not valid JSON")


def _busy(task: Case, rng: Random) -> list[Item]:
    return called(rng, "get_order", {"order_id": task.order["order_id"]}, "429 Too Many Requests")


def _made_up(task: Case, rng: Random) -> list[Item]:
    given = {"order_id": f"HG{rng.randint(100000, 999999)}"}
    return called(rng, "get_order", given, '{"error": "order not found"}')


SYMPTOMS: Mapping[str, Fragment] = {
    "BEH001": _again,
    "BEH003": _unreadable,
    "BEH004": _rounds,
    "BEH007": _no_such_tool,
    "BEH008": _made_up,
    "INF002": _busy,
}
"""By the code of the rule that sees it."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A run with symptoms, and what each of them really costs."""

    made: Made
    gains: Mapping[str, float]
    """By code: what the score would gain without the symptom, given the rollouts that have it."""


def symptoms_run(seed: int, costly: str | None) -> Effect:
    """A run in which one symptom is costly, or none is where None is given."""
    world = Tools()
    rng = Random(f"{seed}/effects/{costly}")
    tasks = [world.task(index, rng) for index in range(TASKS)]
    rows, gains = [], dict.fromkeys(SYMPTOMS, 0.0)
    for task in tasks:
        chance = rng.uniform(0.3, 0.95)
        for repeat in range(REPEATS):
            present = [code for code in SYMPTOMS if rng.random() < SHARE]
            lost = EFFECT * chance if costly in present else 0.0
            draft = _rollout(task, rng, present, rng.random() < chance - lost)
            rows.append((Part(task=task, mechanism=None, level="sometimes"), repeat, draft))
            if costly is not None:
                gains[costly] += lost / (TASKS * REPEATS)
    return Effect(made=_made(world, seed, rows), gains=gains)


def _rollout(task: Case, rng: Random, present: list[str], passes: bool) -> Draft:
    middle = [item for code in present for item in SYMPTOMS[code](task, rng)]
    arguments = task.arguments if passes else rng.choice(task.wrong)
    items = [*known(task, rng), *middle, *looked_up(task, rng), *agreed(task, rng), *change(task, rng, arguments)]
    return finished(task, rng, [*items, *ended(task, rng)], float(passes))


def _made(world: World, seed: int, rows: list[tuple[Part, int, Draft]]) -> Made:
    (model,) = world.models
    names = names_of("documented", world.name, 1)
    lines = [
        row_of(world, model, part, Played(repeat=repeat, draft=draft, hit=False), names) for part, repeat, draft in rows
    ]
    truth = Truth(world=world.name, seed=seed, runs={model: RunTruth(tasks={}, must={}, may={})})
    return Made(world=world.name, files={f"{model}_rollouts.jsonl": b"".join(lines)}, truth=truth)
