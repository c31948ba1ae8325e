"""Calls that were due against calls that were made: each due call is paired with the nearest one made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import NamedTuple

import msgspec

from blade.model.expected import DueCall
from blade.model.rollout import Step
from blade.model.tools import is_deep, judge_of_tools

MOST_PAIRED = 60
"""Calls of each side that are paired; a longer list is compared up to there."""

DEEPEST = 40
MOST_ITEMS = 100
"""Items of longer lists are compared as they are written."""

EMPTY: tuple[object, ...] = (None, "", [], {})
"""Values that are the same as none."""


class Made(NamedTuple):
    """A call that the agent made and that was carried out."""

    step: Step
    tool: str

    @property
    def arguments(self) -> Mapping[str, object]:
        return parsed(self.step.arguments)


class Wrong(msgspec.Struct, frozen=True, kw_only=True):
    """The right tool with other arguments than were due."""

    due: DueCall
    made: Made
    names: tuple[str, ...]
    """The arguments that differ, in the order of the key, then of the call."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Every due call and every call made, each on one side only."""

    exact: tuple[tuple[DueCall, Made], ...]
    wrong: tuple[Wrong, ...]
    missing: tuple[DueCall, ...]
    extra: tuple[Made, ...]


class _Latest:
    """What was worked out last, by the very objects it was made of: several signs of a rollout ask for the same."""

    def __init__(self) -> None:
        self.steps: Sequence[Step] | None = None
        self.made: list[Made] = []
        self.paired: tuple[Sequence[DueCall], Sequence[Made]] = ((), ())
        self.pairing: Pairing | None = None

    def has_paired(self, due: Sequence[DueCall], made: Sequence[Made]) -> bool:
        """Whether these calls were paired last; lists may be new, the calls in them are not."""
        before, done = self.paired
        return (
            len(before) == len(due)
            and len(done) == len(made)
            and all(map(is_, before, due))
            and all(map(is_, done, made))
        )


_latest = _Latest()


def carried_out(steps: Sequence[Step]) -> list[Made]:
    """The calls whose result, where there is one, reports no error; in order. To be read only."""
    if _latest.steps is not steps:
        _latest.steps, _latest.made = steps, _carried_out(steps)
    return _latest.made


def _carried_out(steps: Sequence[Step]) -> list[Made]:
    refused = {(step.answers, step.call_id) for step in steps if step.kind == "result" and step.failed}
    calls = [step for step in steps if step.kind == "call" and step.party == "agent"]
    if refused:
        calls = [step for step in calls if (step.index, step.call_id) not in refused]
    return [Made(step, step.tool or "") for step in calls]


def changes(made: Sequence[Made]) -> list[Made]:
    """Those that change something."""
    changing = judge_of_tools()
    return [one for one in made if changing(one.tool)]


@lru_cache(maxsize=1024)
def parsed(arguments: str | None) -> Mapping[str, object]:
    """The arguments as an object; text that is none stands under the empty name."""
    if not arguments:
        return {}
    if is_deep(arguments):
        return {"": arguments}
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {"": arguments}
    return value if isinstance(value, dict) else {"": value}


def pair(due: Sequence[DueCall], made: Sequence[Made]) -> Pairing:
    """Pair each due call with the nearest one made of the same tool; equal ones first, then fewest differences."""
    if _latest.pairing is None or not _latest.has_paired(due, made):
        _latest.paired, _latest.pairing = (tuple(due), tuple(made)), _pair(due, made)
    return _latest.pairing


def _pair(due: Sequence[DueCall], made: Sequence[Made]) -> Pairing:
    left, free = due[:MOST_PAIRED], made[:MOST_PAIRED]
    exact = _exact(left, free)
    used = set(exact.values())
    differ = {
        (place, other): differing(call, one.arguments)
        for place, call in enumerate(left)
        if place not in exact
        for other, one in enumerate(free)
        if one.tool == call.tool and other not in used
    }
    wrong = _nearest(left, free, differ) if differ else {}
    paired = {**exact, **wrong}
    taken = set(paired.values())
    return Pairing(
        exact=tuple([(left[place], free[other]) for place, other in exact.items()]),
        wrong=tuple([Wrong(due=left[p], made=free[o], names=differ[p, o]) for p, o in sorted(wrong.items())]),
        missing=tuple([call for place, call in enumerate(left) if place not in paired]),
        extra=tuple([one for other, one in enumerate(free) if other not in taken]),
    )


Differ = Mapping[tuple[int, int], tuple[str, ...]]
"""The arguments in which calls of one tool differ, by the places of the due call and of the one made."""


def _exact(left: Sequence[DueCall], free: Sequence[Made]) -> dict[int, int]:
    """Due calls and the first call made that is as they want it, by place."""
    # The most particular first: a call that is compared in one argument only may take what another needs.
    order = sorted(range(len(left)), key=lambda place: -_particular(left[place]))
    found: dict[int, int] = {}
    used: set[int] = set()
    for place in order:
        call = left[place]
        mine = (other for other, one in enumerate(free) if one.tool == call.tool and other not in used)
        other = next((other for other in mine if next(_differing(call, free[other].arguments), None) is None), None)
        if other is not None:
            found[place] = other
            used.add(other)
    return found


def _particular(call: DueCall) -> int:
    return len(call.arguments) if call.compared is None else len(call.compared)


def _nearest(left: Sequence[DueCall], free: Sequence[Made], differ: Differ) -> dict[int, int]:
    """Pairs of one tool that are left, in order of how little they differ, each call in one pair at most; by place."""
    found: dict[int, int] = {}
    used: set[int] = set()
    for place, other in sorted(differ, key=lambda at: (len(differ[at]), at)):
        if place not in found and other not in used and _related(left[place], free[other]):
            found[place] = other
            used.add(other)
    return found


def _related(call: DueCall, made: Made) -> bool:
    """Whether two calls of one tool are the same intent: they share an argument, or there is only one to share."""
    names = [name for name in call.arguments if call.compared is None or name in call.compared]
    return len(names) <= 1 or any(same(call.arguments[name], made.arguments.get(name)) for name in names)


def differing(call: DueCall, arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Names of the arguments that are not as the key has them; empties and absences are the same."""
    return tuple(_differing(call, arguments))


def _differing(call: DueCall, arguments: Mapping[str, object]) -> Iterator[str]:
    agrees = _is_accepted if call.alternatives else same
    names = {**call.arguments, **arguments}
    for name in names if call.compared is None else [name for name in names if name in call.compared]:
        if not agrees(call.arguments.get(name), arguments.get(name)):
            yield name


def _is_accepted(values: object, given: object) -> bool:
    """Whether a value is one of those that are accepted; an argument that the key does not name is not."""
    return isinstance(values, list) and any(same(value, given) for value in values)


def same(one: object, other: object, depth: int = 0) -> bool:
    """Whether two argument values are the same: numbers by value, text without case and spacing, lists in any order.

    What lies deeper than `DEEPEST` is taken to be the same.
    """
    if type(one) is str and type(other) is str:
        return one == other or _in_short(one) == _in_short(other)
    if depth > DEEPEST:
        return True
    if one in EMPTY and other in EMPTY:
        return True
    if isinstance(one, str) != isinstance(other, str):
        one, other = _loaded(one), _loaded(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if isinstance(one, str) and isinstance(other, str):
        return _in_short(one) == _in_short(other)
    if isinstance(one, list) and isinstance(other, list):
        return _same_items(one, other, depth)
    if isinstance(one, dict) and isinstance(other, dict):
        return all(same(one.get(name), other.get(name), depth + 1) for name in {**one, **other})
    return False


def _in_short(text: str) -> str:
    return " ".join(text.split()).casefold()


def _written(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _loaded(value: object) -> object:
    """Text that holds a number, a list or an object, as that."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _same_items(one: list[object], other: list[object], depth: int) -> bool:
    if len(one) != len(other):
        return False
    if len(one) > MOST_ITEMS:
        return sorted(map(_written, one)) == sorted(map(_written, other))
    free = list(other)
    for item in one:
        place = next((n for n, candidate in enumerate(free) if same(item, candidate, depth + 1)), None)
        if place is None:
            return False
        del free[place]
    return True
