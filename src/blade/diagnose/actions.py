"""Calls that were due against calls that were made: each due call is paired with the nearest one made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from blade.core.due import DueCall
from blade.core.rollout import Step
from blade.core.tools import changes_state

MOST_PAIRED = 60
"""Calls of each side that are paired; a longer list is compared up to there."""

_EMPTY: tuple[object, ...] = (None, "", [], {})


@dataclass(frozen=True, kw_only=True)
class Made:
    """A call that the agent made and that was carried out."""

    step: Step

    @property
    def tool(self) -> str:
        return self.step.tool or ""

    @property
    def arguments(self) -> Mapping[str, object]:
        return parsed(self.step.arguments)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """The right tool with other arguments than were due."""

    due: DueCall
    made: Made
    names: tuple[str, ...]
    """The arguments that differ, in the order of the key, then of the call."""


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Every due call and every call made, each on one side only."""

    exact: tuple[tuple[DueCall, Made], ...]
    wrong: tuple[Wrong, ...]
    missing: tuple[DueCall, ...]
    extra: tuple[Made, ...]


def carried_out(steps: Sequence[Step]) -> list[Made]:
    """The calls whose result, where there is one, reports no error; in order."""
    refused = {step.answers for step in steps if step.kind == "result" and step.failed and step.answers is not None}
    calls = [step for step in steps if step.kind == "call" and step.party == "agent" and step.index not in refused]
    return [Made(step=step) for step in calls]


def changes(made: Sequence[Made]) -> list[Made]:
    """Those that change something."""
    return [one for one in made if changes_state(one.tool)]


@lru_cache(maxsize=1024)
def parsed(arguments: str | None) -> Mapping[str, object]:
    """The arguments as an object; text that is none stands under the empty name."""
    if not arguments:
        return {}
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {"": arguments}
    return value if isinstance(value, dict) else {"": value}


def pair(due: Sequence[DueCall], made: Sequence[Made]) -> Pairing:
    """Pair each due call with the nearest one made of the same tool; equal ones first, then fewest differences."""
    left, free = list(due[:MOST_PAIRED]), list(made[:MOST_PAIRED])
    exact: list[tuple[DueCall, Made]] = []
    for call in tuple(left):
        same = next((one for one in free if one.tool == call.tool and not differing(call, one.arguments)), None)
        if same is not None:
            exact.append((call, same))
            left.remove(call)
            free.remove(same)
    wrong = _nearest(left, free)
    taken_due = [id(one.due) for one in wrong]
    taken_made = [id(one.made) for one in wrong]
    return Pairing(
        exact=tuple(exact),
        wrong=tuple(wrong),
        missing=tuple(call for call in left if id(call) not in taken_due),
        extra=tuple(one for one in free if id(one) not in taken_made),
    )


def _nearest(left: Sequence[DueCall], free: Sequence[Made]) -> list[Wrong]:
    """Pairs of one tool in order of how little they differ, each call in one pair at most."""
    options = [
        (len(names := differing(call, one.arguments)), place, other, names)
        for place, call in enumerate(left)
        for other, one in enumerate(free)
        if one.tool == call.tool
    ]
    found: dict[int, Wrong] = {}
    used: list[int] = []
    for count, place, other, names in sorted(options, key=lambda option: option[:3]):
        call, one = left[place], free[other]
        if place in found or other in used or not _related(call, one, count):
            continue
        found[place] = Wrong(due=call, made=one, names=names)
        used.append(other)
    return [found[place] for place in sorted(found)]


def _related(call: DueCall, made: Made, count: int) -> bool:
    """Whether two calls of one tool are the same intent: they share an argument, or there is only one to share."""
    names = [name for name in call.arguments if call.compared is None or name in call.compared]
    return count < len(names) or len(names) <= 1


def differing(call: DueCall, arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Names of the arguments that are not as the key has them; empties and absences are the same."""
    names = list(call.arguments) + [name for name in arguments if name not in call.arguments]
    looked = names if call.compared is None else [name for name in names if name in call.compared]
    return tuple(name for name in looked if not same(call.arguments.get(name), arguments.get(name)))


def same(one: object, other: object) -> bool:
    """Whether two argument values are the same: numbers by value, text without case and spacing, lists in any order."""
    if one in _EMPTY and other in _EMPTY:
        return True
    if isinstance(one, str) != isinstance(other, str):
        one, other = _loaded(one), _loaded(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if isinstance(one, str) and isinstance(other, str):
        return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()
    if isinstance(one, list) and isinstance(other, list):
        return _same_items(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return all(same(one.get(name), other.get(name)) for name in {**one, **other})
    return False


def _loaded(value: object) -> object:
    """Text that holds a number, a list or an object, as that."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _same_items(one: list[object], other: list[object]) -> bool:
    if len(one) != len(other):
        return False
    free = list(other)
    for item in one:
        place = next((n for n, candidate in enumerate(free) if same(item, candidate)), None)
        if place is None:
            return False
        del free[place]
    return True
