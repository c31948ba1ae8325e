"""New inputs made from known ones: one argument changed at a time, by what stands at its place in the others."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from blade_gym.more_tests.likely import has_all, properties
from blade_gym.more_tests.seen import Input

DRAWS = 600
"""Tries for one function."""
LONGEST = 300
"""Characters of an input, written down."""


def draw_inputs(known: Sequence[Input], seed: str) -> Iterator[Input]:
    """Different inputs that have every property which all known ones have; the same for the same seed."""
    wanted = properties(known)
    chance = random.Random(seed)
    told = {repr(given) for given in known}
    for _ in range(DRAWS):
        given = list(chance.choice(known))
        if not given:
            return
        place = chance.randrange(len(given))
        pool = [other[place] for other in known if place < len(other)]
        for _ in range(chance.randint(1, 2)):
            given[place] = _varied(given[place], pool, chance)
        made = tuple(given)
        text = repr(made)
        if text not in told and len(text) <= LONGEST and has_all(wanted, made):
            told.add(text)
            yield made


def _varied(value: Any, pool: Sequence[Any], chance: random.Random) -> Any:
    if isinstance(value, bool) or value is None:
        return chance.choice(pool)
    if isinstance(value, int):
        return _number(value, pool, chance)
    if isinstance(value, str):
        return _text(value, [one for one in pool if isinstance(one, str)], chance)
    if isinstance(value, list | tuple):
        return type(value)(_listed(list(value), pool, chance))
    return chance.choice(pool)


def _number(value: int, pool: Sequence[Any], chance: random.Random) -> int:
    numbers = [one for one in pool if isinstance(one, int) and not isinstance(one, bool)]
    return chance.choice((value - 1, value + 1, chance.randint(min(numbers), max(numbers))))


def _text(value: str, pool: Sequence[str], chance: random.Random) -> str:
    """Words in other orders and of other texts; letters of texts that are one word. Anything else is left as it is known."""
    if not all(part.isalpha() for one in pool for part in one.split()):
        return chance.choice(pool)
    if " " in value:
        words = value.split(" ")
        others = [word for one in pool for word in one.split(" ")]
        return " ".join(_rearranged(words, others, chance))
    return "".join(_rearranged(list(value), list("".join(pool)), chance))


def _listed(value: list[Any], pool: Sequence[Any], chance: random.Random) -> list[Any]:
    others = [inner for one in pool if isinstance(one, list | tuple) for inner in one]
    if any(isinstance(inner, list | tuple | dict) for inner in others):
        # What holds between the rows of a grid is not known here: they are only put in another order.
        return chance.sample(value, len(value))
    whole = [inner for inner in others if isinstance(inner, int) and not isinstance(inner, bool)]
    if whole and len(whole) == len(others):
        others.append(chance.randint(min(whole), max(whole)))
    return _rearranged(value, others, chance)


def _rearranged(value: list[Any], others: Sequence[Any], chance: random.Random) -> list[Any]:
    """One change: another order, one more, one less, or one replaced."""
    made, change = list(value), chance.choice(("order", "more", "less", "replace"))
    place = chance.randrange(len(made) + 1)
    if change == "order":
        chance.shuffle(made)
    elif change == "more" and others:
        made.insert(place, chance.choice(others))
    elif made and change == "less":
        made.pop(min(place, len(made) - 1))
    elif made and others:
        made[min(place, len(made) - 1)] = chance.choice(others)
    return made
