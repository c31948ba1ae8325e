"""What all inputs of a function have in common: what a new input must have too, since nobody wrote down what is allowed.

A property that every known input has may be an accident or a precondition. Taking all of them for preconditions gives up
inputs that would be allowed, and keeps a right program from being failed for one that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from blade_gym.more_tests.seen import Input

Property = Callable[[Input], bool]
Value = Callable[[Any], bool]
Pair = Callable[[Any, Any], bool]


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
