"""Places as users write them: TASK, TASK#REPEAT or TASK#REPEAT:STEP."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from blade.model.errors import RequestError

if TYPE_CHECKING:
    from blade.model.run import Run

_PLACE = re.compile(r"^(?P<task>.+)#(?P<repeat>\d+)(?::(?P<step>\d+))?$")


def parse(run: Run, place: str) -> tuple[str, int, int | None]:
    """Task, repeat and step; a task alone stands for its only rollout."""
    known = set(run.tasks["task_id"])
    if place in known:
        repeats = run.rollouts.filter(run.rollouts["task_id"] == place)["repeat"].to_list()
        if len(repeats) == 1:
            return place, repeats[0], None
        raise RequestError(
            f"task {place} has {len(repeats)} rollouts",
            hint="say which: " + ", ".join(f"{place}#{r}" for r in repeats[:8]),
        )
    match = _PLACE.match(place)
    if match is None:
        raise RequestError(f"{place!r} is no place", hint="write TASK#REPEAT or TASK#REPEAT:STEP, for example 39#1:6")
    return match["task"], int(match["repeat"]), int(match["step"]) if match["step"] else None


def task_of(run: Run, place: str) -> str:
    """The task that a user names, by itself or by a place in it."""
    match = _PLACE.match(place)
    return match["task"] if match is not None and place not in set(run.tasks["task_id"]) else place


def one_run(runs: Sequence[Run], path: str, name: str | None) -> Run:
    """The run that is meant; raises when there are several and none is named, or none has the name."""
    chosen = [run for run in runs if name in (None, run.name)]
    names = ", ".join(run.name for run in runs)
    if name is not None and not chosen:
        raise RequestError(f"no run is called {name!r}", hint=f"runs here: {names}")
    if len(chosen) != 1:
        raise RequestError(f"{path} holds {len(runs)} runs: {names}", hint="choose one with --run NAME")
    return chosen[0]


def step_range(text: str) -> range:
    """`4:12`, `4:` or `7` as steps, both ends included."""
    match = re.match(r"^(\d+)(?:(:)(\d*))?$", text)
    if match is None:
        raise RequestError(f"{text!r} is no range of steps", hint="write --steps 4:12")
    first = int(match[1])
    last = first if match[2] is None else int(match[3]) if match[3] else 1 << 30
    return range(first, last + 1)
