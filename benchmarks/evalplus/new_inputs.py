"""New inputs made from known ones: one argument changed at a time, by what stands at its place in the others.

A new input must have what all known ones have in common, since nobody wrote down what is allowed. A property that every known input has may be an accident or a precondition. Taking all of them for preconditions gives up
inputs that would be allowed, and keeps a right program from being failed for one that is not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

Input = tuple[Any, ...]
Property = Callable[[Input], bool]
Value = Callable[[Any], bool]
Pair = Callable[[Any, Any], bool]

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


def properties(inputs: Sequence[Input]) -> list[Property]:
    """Every known property that all inputs have."""
    return [one for one in _candidates(inputs) if all(_holds(one, given) for given in inputs)]


def has_all(wanted: Sequence[Property], given: Input) -> bool:
    """Whether an input has them."""
    return all(_holds(one, given) for one in wanted)


def _holds(one: Property, given: Input) -> bool:
    try:
        return bool(one(given))
    except (AttributeError, TypeError, ValueError, LookupError):
        return False


def _candidates(inputs: Sequence[Input]) -> Iterator[Property]:
    places = range(max(map(len, inputs)))
    counts = frozenset(map(len, inputs))
    yield lambda given: len(given) in counts
    for place in places:
        values = [given[place] for given in inputs if place < len(given)]
        for check in (*_within(values), *_ALONE):
            yield _at(place, check)
    for one, other in combinations(places, 2):
        for pair in (*_apart([(given[one], given[other]) for given in inputs if other < len(given)]), *_TOGETHER):
            yield _between(one, other, pair)
            yield _between(other, one, pair)


def _at(place: int, check: Value) -> Property:
    return lambda given: place >= len(given) or check(given[place])


def _between(one: int, other: int, check: Pair) -> Property:
    return lambda given: check(given[one], given[other])


def shape(value: Any) -> str:
    """The type of a value, with the types inside it."""
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{','.join(sorted({shape(inner) for inner in value}))}]"
    return type(value).__name__


def _within(values: Sequence[Any]) -> Iterator[Value]:
    """No new types, characters, lengths, or numbers beyond those known."""
    shapes = frozenset(map(shape, values))
    yield lambda value: shape(value) in shapes
    lengths = frozenset(len(value) for value in values if isinstance(value, str | list | tuple))
    yield lambda value: not isinstance(value, list | tuple) or len(value) in lengths
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    yield lambda value: not isinstance(value, str) or len(value) <= longest
    numbers = [number for value in values for number in _numbers(value)]
    if numbers:
        low, high = min(numbers), max(numbers)
        yield lambda value: all(low <= number <= high for number in _numbers(value))
    letters = frozenset("".join(text for value in values for text in _texts(value)))
    yield lambda value: letters.issuperset("".join(_texts(value)))


def _apart(pairs: Sequence[tuple[Any, Any]]) -> Iterator[Pair]:
    """Lengths and numbers that are always as far apart."""
    one, other = pairs[0]
    if isinstance(one, str | list | tuple) and isinstance(other, str | list | tuple):
        longer = len(one) - len(other)
        yield lambda one, other: len(one) - len(other) == longer
    if isinstance(one, int) and isinstance(other, int):
        larger = one - other
        yield lambda one, other: one - other == larger


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner)
    else:
        yield value


def _numbers(value: Any) -> list[float]:
    return [inner for inner in _flat(value) if isinstance(inner, int | float) and not isinstance(inner, bool)]


def _texts(value: Any) -> list[str]:
    return [inner for inner in _flat(value) if isinstance(inner, str)]


def _inner_lists(value: Any) -> list[Any]:
    return [inner for inner in value if isinstance(inner, list | tuple)] if isinstance(value, list | tuple) else []


_ALONE: tuple[Value, ...] = (
    lambda value: len(value) > 0,
    lambda value: len(value) % 2 == 0,
    lambda value: len(value) % 2 == 1,
    lambda value: list(value) == sorted(value),
    lambda value: list(value) == sorted(value, reverse=True),
    lambda value: len(set(_flat(value))) == len(list(_flat(value))),
    lambda value: len({len(inner) for inner in value}) <= 1,
    lambda value: all(list(inner) == sorted(inner) for inner in _inner_lists(value)),
    lambda value: all(number > 0 for number in _numbers(value)),
    lambda value: all(number >= 0 for number in _numbers(value)),
    lambda value: all(number % 2 == 0 for number in _numbers(value)),
    lambda value: all(number % 2 == 1 for number in _numbers(value)),
    lambda value: all(number != 0 for number in _numbers(value)),
    lambda value: value == value[::-1],
    lambda value: value != value[::-1],
    lambda value: value == value.strip(),
    lambda value: "  " not in value,
    lambda value: value.isalpha(),
    lambda value: value.islower(),
    lambda value: value.isupper(),
    lambda value: value[0].isupper(),
    lambda value: " " in value,
)
_TOGETHER: tuple[Pair, ...] = (
    lambda one, other: one < other,
    lambda one, other: one <= other,
    lambda one, other: one != other,
    lambda one, other: len(one) == len(other),
    lambda one, other: len(one) <= len(other),
    lambda one, other: len(one) < len(other),
    lambda one, other: one < len(other),
    lambda one, other: one <= len(other),
    lambda one, other: one in other,
    lambda one, other: set(one) == set(other),
    lambda one, other: set(one) <= set(other),
)
