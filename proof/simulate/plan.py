"""Which task gets which mechanism, and which of its rollouts are hit: decided by the seed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, Task
from proof.simulate.mechanism import Mechanism, World

LEVELS = ("easy", "easy", "sometimes", "hard")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One task, and what is to become of it."""

    task: Task
    mechanism: Mechanism | None
    level: str
    """How an honest model does where nothing is planted."""
    twin: bool = False


@dataclass(frozen=True, kw_only=True)
class Played:
    """One rollout of a part."""

    repeat: int
    draft: Draft
    hit: bool


def parts(world: World, plants: Sequence[Mechanism], tasks: int, share: float, seed: int) -> tuple[Part, ...]:
    """The tasks of a world in order, each with what is planted in it; a share of them has something planted."""
    rng = Random(f"{seed}/{world.name}/plan")
    wanted = _drawn(plants, round(tasks * share) if plants else 0, rng)
    wanted += [None] * (tasks - sum(1 + (one is not None and one.twin is not None) for one in wanted))
    rng.shuffle(wanted)
    found: list[Part] = []
    for number, one in enumerate(wanted):
        found += _part(world, one, len(found), LEVELS[number % len(LEVELS)], Random(f"{seed}/{world.name}/{number}"))
    return tuple(found[:tasks]) if plants else tuple(found)


def _drawn(plants: Sequence[Mechanism], many: int, rng: Random) -> list[Mechanism | None]:
    """Each in turn, in an order of chance, until there are enough; twins take two places."""
    found: list[Mechanism | None] = []
    room = many
    while room > 0:
        for one in rng.sample(list(plants), len(plants)):
            room -= 2 if one.twin else 1
            if room >= 0:
                found.append(one)
    return found


def _part(world: World, one: Mechanism | None, index: int, level: str, rng: Random) -> list[Part]:
    task = world.task(index, rng)
    if one is None:
        return [Part(task=task, mechanism=None, level=level)]
    if one.twin is None:
        return [Part(task=one.bend(task, rng) if one.bend else task, mechanism=one, level=level)]
    other = replace(one.twin(task, rng), index=index + 1, task_id=f"{task.task_id}b")
    return [Part(task=task, mechanism=one, level="easy"), Part(task=other, mechanism=one, level="easy", twin=True)]


def cause_of(part: Part, run: int, passed: Sequence[bool]) -> Cause | None:
    """The true cause of a part in a run, the first being 0, with the outcomes of its rollouts."""
    one = _planted(part, run)
    if one is not None:
        return one.cause if one.twin is None or part.twin else None
    if all(passed):
        return None
    return Cause.UNRELIABLE if any(passed) else Cause.KNOWLEDGE


def _planted(part: Part, run: int) -> Mechanism | None:
    return part.mechanism if part.mechanism is None or not (part.mechanism.one_run and run) else None


def _level(part: Part) -> str:
    """A task whose mechanism is another run's is done now and then here."""
    return part.level if part.mechanism is None else "sometimes"


def played(world: World, part: Part, run: int, repeats: int, seed: int) -> Iterator[Played]:
    """The rollouts of a part in a run."""
    rng = Random(f"{seed}/{world.name}/{part.task.task_id}/{run}")
    one = _planted(part, run)
    fates = _fates(one, repeats, rng) if one is not None else _honest(_level(part), repeats, rng)
    offset = rng.randrange(12)
    for repeat, fate in enumerate(fates):
        yield Played(repeat=repeat, draft=_draft(world, part, one, fate, offset + repeat, rng), hit=fate == "hit")


def _draft(world: World, part: Part, one: Mechanism | None, fate: str, variant: int, rng: Random) -> Draft:
    if fate == "slip":
        return world.slip(part.task, rng, variant)
    if one is not None and fate == "hit" and one.play is not None:
        return one.play(part.task, rng)
    if one is not None and one.otherwise is not None:
        return one.otherwise(part.task, rng)
    return world.solve(part.task, rng)


def _honest(level: str, repeats: int, rng: Random) -> list[str]:
    slips = {"easy": 0, "hard": repeats}.get(level, rng.randint(1, max(1, repeats - 1)))
    return _shuffled(["slip"] * slips + ["pass"] * (repeats - slips), rng)


def _fates(one: Mechanism, repeats: int, rng: Random) -> list[str]:
    """A rollout is hit, slips by itself, or passes; a mechanism that bends the task hits all."""
    if one.play is None:
        return ["hit"] * repeats
    hits = min(repeats, max(1, round(rng.choice(one.doses) * repeats)))
    room = repeats - hits
    slips = room if one.rest == "mostly slip" else rng.randint(0, min(room, hits // 2)) if one.rest == "slip" else 0
    return _shuffled(["hit"] * hits + ["slip"] * slips + ["pass"] * (room - slips), rng)


def _shuffled(fates: list[str], rng: Random) -> list[str]:
    rng.shuffle(fates)
    return fates
