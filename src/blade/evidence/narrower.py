"""A look-up that passing repeats narrow by an argument, and failing ones do not: they pick from what it returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from blade.evidence.actions import parsed
from blade.evidence.alignment import AlignedTrajectory
from blade.model.tools import changes_state

Given = tuple[str, str]
"""A tool and the name of one of its arguments."""
FEWEST = 3
"""Failing rollouts that must lack the argument, in two tasks or more."""
LACKING, HAVING = 0.8, 0.3
"""Shares of failing rollouts that lack it, and of passing ones that have it (two or more), at the least."""


class Narrower(Struct, frozen=True, kw_only=True):
    """An argument of a look-up, and how often each side gives it."""

    tool: str
    argument: str
    failing_with: int
    failing: int
    passing_with: int
    passing: int


def narrower(failing: Sequence[AlignedTrajectory], passing: Sequence[AlignedTrajectory]) -> Narrower | None:
    """The argument that sets passing repeats of the same tasks apart most; None where none does."""
    tasks = {_task(walk) for walk in passing}
    left = [walk for walk in failing if _task(walk) in tasks]
    tools = {tool for walk in left for tool, _ in _given(walk)}
    with_it = Counter(given for walk in passing for given in _given(walk) if given[0] in tools)
    found = [_counted(given, left, passing) for given in sorted(with_it)]
    telling = [one for one in found if _tells(one, left)]
    return min(telling, key=lambda one: (one.failing_with, -one.passing_with, one.tool, one.argument), default=None)


def _task(walk: AlignedTrajectory) -> str:
    return walk.rollout.key.task_id


def _given(walk: AlignedTrajectory) -> set[Given]:
    return set(_arguments(walk))


def _arguments(walk: AlignedTrajectory) -> Iterator[Given]:
    """Arguments of look-ups that were given a value."""
    for call in walk.calls:
        tool = call.tool or ""
        if tool and not changes_state(tool):
            yield from ((tool, name) for name, value in parsed(call.arguments).items() if value not in (None, ""))


def _counted(given: Given, failing: Sequence[AlignedTrajectory], passing: Sequence[AlignedTrajectory]) -> Narrower:
    tool, argument = given
    asked = [walk for walk in failing if any(call.tool == tool for call in walk.calls)]
    asking = [walk for walk in passing if any(call.tool == tool for call in walk.calls)]
    return Narrower(
        tool=tool,
        argument=argument,
        failing_with=sum(given in _given(walk) for walk in asked),
        failing=len(asked),
        passing_with=sum(given in _given(walk) for walk in asking),
        passing=len(asking),
    )


def _tells(one: Narrower, failing: Sequence[AlignedTrajectory]) -> bool:
    lacking = one.failing - one.failing_with
    tasks = {_task(walk) for walk in failing if any(call.tool == one.tool for call in walk.calls)}
    enough = lacking >= FEWEST and len(tasks) > 1
    shown = one.passing_with >= max(2, HAVING * one.passing)
    return enough and shown and lacking >= LACKING * one.failing
